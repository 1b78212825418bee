/**
 * The rows of a large index, by arithmetic on generate_series: what stands where is known without a
 * look, and is the same in every run.
 *
 * Blocks come in threes. Each chain block merges the three before it (the previous chain block and
 * two beside it; one in thirty blocks is red), and the last three are not merged yet. A hundred
 * blocks hold 795 transactions: one holds 300, the others five; the first of each block is a
 * coinbase. Transaction t spends the second output of transaction t - 5,000, and pays dust to the
 * one address that everybody pays (a faucet the other way round) and the rest to a separate
 * address:
 *
 * - of transactions whose number ends in 00 or 50, which are never accepted, to the address that is
 *   paid in vain: its newest 20,000 transactions are refused, a hundred of its oldest are not;
 * - of those that end in 07 or 57, to an address that is busy, with 20,000 transactions;
 * - of all others, to one of 200,000 addresses with ten transactions each, or nearly.
 *
 * The index begins at a pruning point with 200,000 UTXOs: a quarter of them belongs to the one
 * address, the others to all others. Keys of what made them are negative here, so that those of all
 * else stay what they are; so are those of the 2,000 blocks before it that are known by their
 * hashes alone. There is a gap before a second start.
 */
import { covenantOf, covenantStatements, heldCovenant } from './covenant-rows.ts';

export const TRANSACTIONS = 1_001_700;
export const BLOCKS = 126_000;
export const CHAIN_BLOCKS = BLOCKS / 3;
const PRE_BOOTSTRAP_TRANSACTIONS = 200_000;
const PRE_BOOTSTRAP_BLOCKS = 2000;
/** chain_blocks.index. */
const SECOND_START = 10_000;
export const SCRIPTS = 199_993;
/** Every second script has a tag. */
const TAGGED_EVERY = 2;

/** scripts.id of the addresses that stand out. */
export const PAID_BY_ALL = 1;
export const BUSY = 2;
export const PAID_IN_VAIN = 3;
const FIRST_OTHER = 4;
const OTHERS = SCRIPTS - FIRST_OTHER + 1;

/**
 * Members of the large cluster: scripts whose number ends in 1, or in 2, of which each has a tag
 * with its own name.
 */
export const LARGE_CLUSTER = 2 * Math.floor((SCRIPTS - 2) / 10);
/** scripts.id of a member by its place. The one at place 0 is the root. */
export const memberOfLarge = (place: number): number => 11 + Math.floor(place / 2) * 10 + (place % 2);

/** A label on half of all tags, and one on a single tag. */
export const COMMON_LABEL = 'exchange';
export const RARE_LABEL = 'exploit';

const START_MS = 1_750_000_000_000;
/** The index spans a year, so that histories of balances have as many hours as real ones. */
const CHAIN_BLOCK_MS = 750_000;
const SINK = BLOCKS - 3;
const SPENT_AFTER = 5000;
const DUST = 10_000;
const FEE = 1000;
const BITS = 0x207fffff;

const hashOf = (what: string, number: string): string => `sha256(convert_to('${what} ' || (${number}), 'UTF8'))`;
const blockOf = (t: string): string =>
  `(${t}) / 795 * 100 + case when (${t}) % 795 < 300 then 0 else 1 + ((${t}) % 795 - 300) / 5 end`;
const sizeOf = (block: string): string => `case when (${block}) % 100 = 0 then 300 else 5 end`;
const placeOf = (t: string): string => `case when (${t}) % 795 < 300 then (${t}) % 795 else (${t}) % 5 end`;
const mergingBlockOf = (block: string): string => `case when (${block}) < ${SINK} then (${block}) / 3 * 3 + 3 end`;
const timeOf = (block: string): string => `${START_MS} + (${block}) / 3 * ${CHAIN_BLOCK_MS}::bigint`;
const hourOf = (block: string): string => `((${timeOf(block)}) / 3600000)::integer`;
const isRefused = (t: string): string => `(${t}) % 50 = 0`;
const acceptingBlockOf = (t: string): string => `case when not ${isRefused(t)} then ${mergingBlockOf(blockOf(t))} end`;
const acceptingIndexOf = (t: string): string => `(${acceptingBlockOf(t)}) / 3`;
const hasInput = (t: string): string => `(${t}) >= ${SPENT_AFTER} and (${placeOf(t)}) > 0`;
const ownerOf = (t: string): string => `case
  when ${isRefused(t)} or ((${t}) < ${SPENT_AFTER} and (${t}) % 50 = 1) then ${PAID_IN_VAIN}
  when (${t}) % 50 = 7 then ${BUSY}
  else ${FIRST_OTHER} + (${t}) * 7919 % ${OTHERS} end`;
/** A script of the large cluster, by its place. */
const memberAt = (m: string): string => `(11 + (${m}) / 2 * 10 + (${m}) % 2)`;
/** First those of two single scripts, then those of two pairs, and so on. */
const mergeOf = (m: string): string => `((${m}) & -(${m})) * ${LARGE_CLUSTER} + (${m})`;
/** By an accepted transaction. */
const isSpent = (t: string): string => {
  const spender = `(${t}) + ${SPENT_AFTER}`;
  return `${spender} < ${TRANSACTIONS} and ${hasInput(spender)} and ${acceptingBlockOf(spender)} is not null`;
};
/** The amount of the second output: each spender keeps what the dust and the fee leave. */
const amountOf = (t: string): string => `1000000000 - (${t}) / ${SPENT_AFTER} * ${DUST + FEE}`;

/** The owner of the UTXO of a pre-bootstrap transaction, numbered from 1. */
const earlierOwnerOf = (e: string): string =>
  `case when ${e} % 4 = 0 then ${PAID_BY_ALL} else ${FIRST_OTHER} + ${e} * 7919 % ${OTHERS} end`;
const earlier = `generate_series(1::bigint, ${PRE_BOOTSTRAP_TRANSACTIONS}) as e`;

const series = (count: number, from = 0): string => `generate_series(${from}::bigint, ${count - 1}) as`;

/** One transaction in ten is in a lane, and nine of ten of these are in the same. */
const LANES = 4000;
const FIRST_LANE = 2;
const isInLane = (t: string): string => `(${t} % 10 = 7 and ${placeOf(t)} <> 0)`;
const subnetworkOf = (t: string): string =>
  `case when ${placeOf(t)} = 0 then 1 when not ${isInLane(t)} then 0
        when ${t} % 100 = 7 then ${FIRST_LANE + 1} + ${t} / 100 % ${LANES - 1} else ${FIRST_LANE} end`;
const namespaceOf = (lane: string): string => `lpad(to_hex(${lane} + 256), 8, '0')`;
export const BUSY_NAMESPACE = (FIRST_LANE + 256).toString(16).padStart(8, '0');

/** One transaction in ten states something, and half of these are of one tick. */
const KINDS = 5000;
export const BUSY_TICK = 'T0';
const kindOf = (t: string): string => `1 + case when ${t} / 10 % 2 = 0 then 0 else ${t} / 10 % ${KINDS} end`;

const rows = { hashOf, placeOf, timeOf, dust: DUST };

/** Independent of each other. */
export const FIRST_STATEMENTS: readonly string[] = [
  `insert into meta (network) values ('simnet')`,
  `insert into inscription_kinds (protocol, operation, tick)
   select case when kind % 100 = 99 then 'kns' else 'krc-20' end, case kind % 3 when 0 then 'mint'
     else 'transfer' end, 'T' || kind
   from ${series(KINDS)} kind`,
  `insert into inscriptions (transaction_id, owner_script_id, kind_id, input)
   select t, case when t % 40 = 0 then ${PAID_BY_ALL} else ${ownerOf('t')} end, ${kindOf('t')}, -1
   from ${series(TRANSACTIONS)} t
     where t % 10 = 0 and ${placeOf('t')} <> 0 and ${acceptingBlockOf('t')} is not null`,
  `insert into subnetworks (id, subnetwork_id)
   select lane, decode(${namespaceOf('lane')} || repeat('00', 16), 'hex')
     from ${series(LANES + FIRST_LANE, FIRST_LANE)} lane`,
  `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
     payload, storage_mass, compute_mass, json_bytes, fee, accepting_index, accepted_variant)
   select t, ${hashOf('transaction', 't')}, ${hashOf('variant', 't')}, 0, 0, ${subnetworkOf('t')},
     case when ${isInLane('t')} then t % 1000 else 0 end, case when t % 10 = 0
       then decode(repeat('ab', 50), 'hex') else '' end, 10000, 2036, 2000, case
         when ${hasInput('t')} then ${FEE} else 0 end,
     ${acceptingIndexOf('t')}, case when ${acceptingBlockOf('t')} is not null then 0 end
   from ${series(TRANSACTIONS)} t`,
  `insert into transaction_outputs (transaction_id, index, covenant_authorizing_input, covenant_id, amount, script_id)
   select t, place, case when ${covenantOf('t', 'place', rows)} is not null
     then 0 end, ${covenantOf('t', 'place', rows)}, case place when 0 then ${DUST}
       else ${amountOf('t')} end,
     case place when 0 then ${PAID_BY_ALL} else ${ownerOf('t')} end
   from ${series(TRANSACTIONS)} t, generate_series(0, 1) as place`,
  `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
     signature_script, sequence, sig_op_count, compute_budget, amount, script_id)
   select t, 0, t - ${SPENT_AFTER}, 1, decode(repeat('41', 66), 'hex'), 0, 1, 0,
     ${amountOf(`t - ${SPENT_AFTER}`)}, ${ownerOf(`t - ${SPENT_AFTER}`)}
   from ${series(TRANSACTIONS)} t where ${hasInput('t')}`,
  // One in twenty transactions is in the next block too, where one in a thousand has another
  // variant.
  `insert into block_transactions (block_id, index, transaction_id, variant)
   select ${blockOf('t')}, ${placeOf('t')}, t, 0 from ${series(TRANSACTIONS)} t
   union all
   select ${blockOf('t')} + 1, ${sizeOf(`${blockOf('t')} + 1`)} + case when t % 795 < 300
     then t % 795 / 20 else 0 end, t,
     (t % 1000 = 3)::integer
   from ${series(TRANSACTIONS)} t where t % 20 = 3 and ${blockOf('t')} + 1 < ${BLOCKS}`,
  `insert into transaction_variants (transaction_id, variant, hash, storage_mass, compute_mass, json_bytes)
   select t, 1, ${hashOf('second variant', 't')}, 10000, 2036, 2000 from ${series(TRANSACTIONS)} t
     where t % 1000 = 3`,
  `insert into transaction_variant_inputs (transaction_id, variant, index, signature_script,
    sig_op_count, compute_budget)
   select t, 1, 0, decode(repeat('42', 66), 'hex'), 1, 0 from ${series(TRANSACTIONS)} t
     where t % 1000 = 3 and ${hasInput('t')}`,
  `insert into blocks (id, hash, version, parents_by_level, hash_merkle_root,
     accepted_id_merkle_root, utxo_commitment, timestamp, bits, nonce, daa_score, blue_work,
     blue_score, pruning_point, selected_parent_id, merge_set_blues, merge_set_reds, is_chain_block,
     merging_block_id, is_blue, transaction_count)
   select b, ${hashOf('block', 'b')}, 1, '', ${hashOf('merkle root', 'b')},
     ${hashOf('accepted', 'b')}, ${hashOf('utxos', 'b')},
     ${timeOf('b')}, ${BITS}, b, b / 3 * 3, b * 2 + 2, b, ${hashOf('block', '0')}, case when b >= 3
       then b / 3 * 3 - 3 end,
     array(select m from generate_series(b / 3 * 3 - 3, b / 3 * 3 - 1) m
       where m >= 0 and m % 30 <> 29),
     array(select m from generate_series(b / 3 * 3 - 3, b / 3 * 3 - 1) m
       where m >= 0 and m % 30 = 29),
     b % 3 = 0, ${mergingBlockOf('b')}, case when ${mergingBlockOf('b')} is not null
       then b % 30 <> 29 end, ${sizeOf('b')}
   from ${series(BLOCKS)} b`,
  `insert into block_parents (block_id, index, parent_id)
   select b, place, b / 3 * 3 - 3 + place
     from ${series(BLOCKS, 3)} b, generate_series(0, 2) as place
   union all
   select b, place, -1 - b * 3 - place
     from generate_series(0, 2) as b, generate_series(0, 2) as place`,
  `insert into pre_bootstrap_transactions (id, transaction_id) select -e,
    ${hashOf('pre-bootstrap transaction', 'e')} from ${earlier}`,
  `insert into bootstrap_utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
   select -e, 0, ${earlierOwnerOf('e')}, ${DUST}, 0, false from ${earlier}`,
  `insert into pre_bootstrap_blocks (id, hash) select -e, ${hashOf('pre-bootstrap block', 'e')}
    from generate_series(1::bigint, ${PRE_BOOTSTRAP_BLOCKS}) as e`,
  // Below the first indexed block, so that no request finds them.
  `insert into pre_bootstrap_times (daa_score, timestamp) select -e, ${START_MS} - e * 1000
    from generate_series(1, 1000) as e`,
  `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
   select index, index * 3, ${PRE_BOOTSTRAP_TRANSACTIONS}, ${PRE_BOOTSTRAP_TRANSACTIONS * DUST}
     from unnest(array[0, ${SECOND_START}]) as index`,
  `insert into gaps (after_block_hash, before_block_hash, reason)
   values (${hashOf('block', `${(SECOND_START - 1) * 3}`)},
     ${hashOf('block', `${SECOND_START * 3}`)}, 'The node had pruned it')`,
  `insert into api_keys (name, key_hash, rate_ru) select 'key ' || k, ${hashOf('key', 'k')}, 500
    from generate_series(1, 20000) as k`,
  `insert into api_key_usage (api_key_id, day, requests, ru)
   select k, date '2026-01-01' + day, 100, 10
     from generate_series(1, 20000) as k, generate_series(0, 4) as day`,
];

/** Statements that read what the first ones made; independent of each other. */
export const SECOND_STATEMENTS: readonly string[] = [
  `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
     chain_time, highest_transaction, lowest_transaction, hash, blue_score)
   select b / 3, b, b, ${timeOf('b')}, coalesce(accepted, '{}'), ${timeOf('b')},
     coalesce(max(accepted[cardinality(accepted)]) over up_to_it, 0),
     coalesce(accepted[1], max(accepted[cardinality(accepted)]) over up_to_it, 0),
     ${hashOf('block', 'b')}, b
   from generate_series(0::bigint, ${SINK}, 3) as b
   left join (select accepting_index, array_agg(id order by id) as accepted from transactions
              where accepting_index is not null group by 1) t on t.accepting_index = b / 3
   window up_to_it as (order by b) order by b`,
  `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase, covenant_id)
   select t, o.index, o.script_id, o.amount, ${acceptingBlockOf('t')}, ${placeOf('t')} = 0,
     ${heldCovenant}
   from transaction_outputs o cross join lateral (select o.transaction_id as t) made
   where ${acceptingBlockOf('t')} is not null and not (o.index = 1 and ${isSpent('t')})
   union all
   select transaction_id, index, script_id, amount, block_daa_score, is_coinbase, null
     from bootstrap_utxos
   order by 1, 2`,
  `insert into previous_balance_changes (script_id, hour, change)
   select a.script_id, ${hourOf(acceptingBlockOf('a.transaction_id'))},
     sum(a.amount_received - a.amount_sent)
   from address_transactions a where ${acceptingBlockOf('a.transaction_id')} is not null
     group by 1, 2 order by 1, 2`,
  `insert into tags (address, name, link, labels)
   select address, 'Owner ' || id, '', case
     when id = ${TAGGED_EVERY} then array['${RARE_LABEL}']
     when id % (2 * ${TAGGED_EVERY}) = 0 then array['${COMMON_LABEL}'] else '{}' end
   from scripts where id % ${TAGGED_EVERY} = 0 order by id`,
  // Rings of 5, 20005, 40005 … : the lowest is the root.
  `insert into clusters (id, size, balance, name)
   select c, ${SCRIPTS} / 20000, 0, 'Cluster ' || c from generate_series(5, 19995, 10) as c`,
  // One of forty thousand, by merges of two of one size: each puts a member, with all those below
  // it, below the one whose place has one bit less. The inputs that tie two parts are the last of
  // the one and the first of the other, so that the way from end to end is the longest.
  `insert into clusters (id, size, balance, name) values (${memberOfLarge(0)}, ${LARGE_CLUSTER}, 0, 'Cluster of many')`,
  `insert into cluster_members (script_id, parent_id, merge_id, next_id, previous_id)
   select ${memberAt('m')}, case when m > 0 then ${memberAt('m & (m - 1)')} end, case when m > 0
     then ${mergeOf('m')} end,
     ${memberAt(`(m + 1) % ${LARGE_CLUSTER}`)}, ${memberAt(`(m + ${LARGE_CLUSTER - 1}) % ${LARGE_CLUSTER}`)}
   from ${series(LARGE_CLUSTER)} m`,
  `insert into cluster_merges (id, chain_index, transaction_id, cluster_id, merged_cluster_id,
    script_id, merged_script_id)
   select ${mergeOf('m')}, 0, m * 25, ${memberAt('m & (m - 1)')}, ${memberAt('m')},
     ${memberAt('m - 1')}, ${memberAt('m')}
   from ${series(LARGE_CLUSTER, 1)} m`,
  `insert into cluster_names (cluster_id, name, addresses)
   select ${memberOfLarge(0)}, 'Owner ' || ${memberAt('m')}, 1 from ${series(LARGE_CLUSTER)} m
     where m % 2 = 1`,
  `insert into tag_sources (name) select 'source ' || s from generate_series(1, 3) as s`,
  `insert into attributions (source_id, address, name, confidence_level)
   select 1 + id % 3, address, 'Owner ' || id, 50 from scripts where id % ${TAGGED_EVERY} = 0
     order by id`,
  `insert into clustering (chain_index, block_id, next_merge_id, next_held_merge_id, updated_at)
    values (0, 0, 1, 1, now())`,
  `insert into change_links (transaction_id, script_id, change_script_id, chain_index)
   select t, ${PAID_BY_ALL}, ${ownerOf('t')}, 0 from ${series(TRANSACTIONS)} t where t % 5 = 1`,
  `insert into cluster_members (script_id, parent_id, next_id, previous_id)
   select s, case when s > 20000 then s % 20000 end, case when s + 20000 <= ${SCRIPTS}
     then s + 20000 else s % 20000 end,
     case when s > 20000 then s - 20000 else s + 20000 * ((${SCRIPTS} - s) / 20000) end
   from generate_series(5, ${SCRIPTS}, 10) as s`,
];

/** In this order. */
export const LAST_STATEMENTS: readonly string[] = [
  ...covenantStatements(rows),
  `insert into removed_chain_blocks (block_id, accepted_transactions)
   select block_id + 1, accepted_transactions from chain_blocks where index % 20 = 0`,
  // About a second of a busy mainnet.
  `insert into unmerged_touches
   select (select max(id) from blocks) - n,
     array(select (n * 500 + i) % ${SCRIPTS} + 1 from generate_series(1, 500) i)
       from generate_series(0, 19) n`,
  `with latest as (
     delete from previous_balance_changes c
       using (select script_id, max(hour) as hour from previous_balance_changes group by 1) l
     where c.script_id = l.script_id and c.hour = l.hour returning c.script_id, c.hour, c.change)
   insert into balances (script_id, balance, utxo_count, transaction_count, is_tagged,
     accepted_count, receiving_count, sending_count, coinbase_count, received, sent, first_seen,
     last_seen, last_change, last_change_hour)
   select script_id, coalesce(balance, 0), coalesce(utxo_count, 0), transaction_count,
     script_id % ${TAGGED_EVERY} = 0
       or script_id % 10 = 5, accepted_count, receiving_count, sending_count, coinbase_count,
         received, sent, first_seen, last_seen,
     coalesce(latest.change, 0), coalesce(latest.hour, 0)
   from (select script_id, count(*) as transaction_count, count(accepted_at) as accepted_count,
           count(accepted_at) filter (where amount_received > 0) as receiving_count,
           count(accepted_at) filter (where amount_sent > 0) as sending_count,
           count(accepted_at) filter (where ${placeOf('transaction_id')} = 0) as coinbase_count,
           coalesce(sum(amount_received) filter (where accepted_at is not null), 0) as received,
           coalesce(sum(amount_sent) filter (where accepted_at is not null), 0) as sent,
           min(accepted_at) as first_seen, max(accepted_at) as last_seen
         from (select *, ${timeOf(acceptingBlockOf('transaction_id'))} as accepted_at
           from address_transactions) a group by 1) touched
   left join (select script_id, sum(amount) as balance, count(*) as utxo_count from utxos
     group by 1) held using (script_id)
   left join latest using (script_id)
   order by script_id`,
  `insert into tag_labels (label, name, address) select unnest(labels), name, address from tags`,
  `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
     next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
     target_blue_score, updated_at)
   select ${SINK}, ${SINK / 3}, ${BLOCKS}, ${TRANSACTIONS}, ${SCRIPTS + 1}, ${LANES + FIRST_LANE},
     sum(balance), array[${SINK + 1}, ${SINK + 2}], false,
     ${SINK}, now() from balances`,
];

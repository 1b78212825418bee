/**
 * All rows of a database that the API can show, as sorted text with hashes instead of keys: equal
 * for two indexes of one chain, after any reorgs (invariant 5). Left out are keys, and blocks and
 * transactions that the chain does not merge (their flags must say so; invariant 4 checks the
 * counts that include them). A UTXO of a transaction that was never accepted does not exist, unless
 * it is pre-bootstrap.
 * Which of several variants the chain block below the sink accepted is known only to an index that
 * asked the node in time (test/simulation/transaction-variants). Indexes with different bootstrap
 * blocks or gaps differ, except in their state.
 */
import type { Connection } from '@kasgres/database';

/** Rows as JSON arrays, by section. */
export type Snapshot = Map<string, string[]>;

/** Sections that are equal for all indexes of one chain, whichever their bootstrap blocks. */
const STATE_SECTIONS: ReadonlySet<string> = new Set(['utxos', 'balances']);

/**
 * `visible`: merged blocks, chain blocks, and the blocks that the virtual block would merge.
 * `known_*`: also those known by hash only.
 */
const VISIBLE = `
  visible as (
    select b.* from blocks b cross join checkpoint c
    where b.merging_block_id is not null or b.is_chain_block or b.id = any (c.virtual_merge_set)
  ),
  carried as (
    select distinct bt.transaction_id, bt.variant from block_transactions bt
      join visible on visible.id = bt.block_id
  ),
  known_blocks as not materialized (select id, hash from blocks union all select id, hash
    from pre_bootstrap_blocks),
  known_transactions as not materialized (
    select t.id, t.transaction_id, t.accepting_index is not null or e.id is not null as existed
    from transactions t left join pre_bootstrap_transactions e on e.id = t.id
    union all
    select e.id, e.transaction_id, true from pre_bootstrap_transactions e
      where not exists (select from transactions t where t.id = e.id)
  ),
  uncertain as (
    select t.id
    from checkpoint c
    join blocks sink on sink.id = c.block_id
    join chain_blocks below on below.block_id = sink.selected_parent_id
      and below.blue_score = sink.blue_score - 1
    join transactions t on t.accepting_index = below.index
    where t.id in (select transaction_id from transaction_variants)
    union
    select id from transactions where transaction_id = any ($1::bytea[])
  )`;

const SECTIONS: Record<string, string> = {
  checkpoint: `
    select json_build_array(m.network, sink.hash, c.circulating_sompi,
      c.first_catch_up, c.chain_index,
      array(select b.hash::text from unnest(c.virtual_merge_set) as tail (id)
        join blocks b on b.id = tail.id order by 1))
    from checkpoint c join blocks sink on sink.id = c.block_id cross join meta m`,

  gaps: `select json_build_array(after_block_hash, before_block_hash, reason) from gaps`,

  starts: `
    select json_build_array(s.chain_index, b.hash, s.utxo_count, s.utxo_sompi)
      from bootstrap_blocks s join blocks b on b.id = s.block_id`,

  'UTXOs of the start': `
    select json_build_array(t.transaction_id, u.index, s.version, s.script, s.type, s.address,
      u.amount, u.block_daa_score, u.is_coinbase, u.covenant_id)
    from bootstrap_utxos u left join known_transactions t on t.id = u.transaction_id
      left join scripts s on s.id = u.script_id`,

  'transactions before a start': `select json_build_array(transaction_id) from pre_bootstrap_transactions`,

  'blocks before a start': `
    select json_build_array(e.hash) from pre_bootstrap_blocks e
    where e.id in (
      select parent_id from block_parents join visible on visible.id = block_id
      union all select unnest(selected_parent_id || merge_set_blues || merge_set_reds) from visible
    )`,

  indexes: `
    select json_build_array(pg_get_indexdef(i.indexrelid)) from pg_index i
      join pg_class r on r.oid = i.indrelid
    where r.relnamespace = 'public'::regnamespace and not r.relispartition`,

  blocks: `
    select json_build_array(b.hash, b.version, b.parents_by_level, b.hash_merkle_root,
      b.accepted_id_merkle_root, b.utxo_commitment, b.timestamp, b.bits, b.nonce, b.daa_score,
      b.blue_work, b.blue_score, b.pruning_point, selected.hash,
      array(select m.hash from unnest(b.merge_set_blues) with ordinality u (id, n)
        left join known_blocks m on m.id = u.id order by u.n),
          array(select m.hash from unnest(b.merge_set_reds) with ordinality u (id, n)
            left join known_blocks m on m.id = u.id order by u.n),
      array(select p.hash from block_parents bp left join known_blocks p on p.id = bp.parent_id
        where bp.block_id = b.id order by bp.index),
      b.is_chain_block, merging.hash, b.is_blue, miner.version, miner.script, b.subsidy)
    from visible b
    left join scripts miner on miner.id = b.miner_script_id
    left join known_blocks selected on selected.id = b.selected_parent_id
    left join blocks merging on merging.id = b.merging_block_id`,

  'blocks off the chain with flags of the chain': `
    select json_build_array(b.hash) from blocks b
    where b.id not in (select id from visible) and (b.is_blue is not null or b.is_chain_block)`,

  'transactions off the chain with an acceptance': `
    select json_build_array(t.transaction_id) from transactions t
    where t.id not in (select transaction_id from carried)
      and (t.accepting_index is not null or t.accepted_variant is not null)`,

  chain: `
    select json_build_array(c.index, b.hash, c.daa_score, c.timestamp, c.chain_time, array(
      select t.transaction_id from unnest(c.accepted_transactions) with ordinality u (id, n)
      left join transactions t on t.id = u.id order by u.n))
    from chain_blocks c join blocks b on b.id = c.block_id`,

  'contents of blocks': `
    select json_build_array(visible.hash, bt.index, t.transaction_id,
      coalesce(variant.hash, t.hash))
    from visible join block_transactions bt on bt.block_id = visible.id
    join transactions t on t.id = bt.transaction_id
    left join transaction_variants variant on variant.transaction_id = bt.transaction_id
      and variant.variant = bt.variant`,

  transactions: `
    select json_build_array(t.transaction_id, t.version, t.lock_time, s.subnetwork_id, t.gas,
      t.payload, accepting.hash, case when uncertain.id is null
        then json_build_array(case t.accepted_variant when 0 then t.hash
          else accepted.hash end, t.accepted_variant is null) end,
      case when not exists (
        select from transaction_inputs i
          left join known_transactions previous on previous.id = i.previous_transaction_id
        where i.transaction_id = t.id and previous.existed is not true
      ) then case when t.accepting_index is null and t.subnetwork_id <> 1
        then inputs_minus_outputs(t.id) else t.fee end end)
    from transactions t
    join subnetworks s on s.id = t.subnetwork_id
    left join chain_blocks accepting on accepting.index = t.accepting_index
    left join transaction_variants accepted on accepted.transaction_id = t.id
      and accepted.variant = t.accepted_variant
    left join uncertain on uncertain.id = t.id
    where t.id in (select transaction_id from carried)`,

  variants: `
    select json_build_array(t.transaction_id, coalesce(variant.hash, t.hash),
      coalesce(variant.storage_mass, t.storage_mass),
      coalesce(variant.compute_mass, t.compute_mass), array(
        select json_build_array(coalesce(own.signature_script, i.signature_script),
          coalesce(own.sig_op_count, i.sig_op_count),
          coalesce(own.compute_budget, i.compute_budget))
        from transaction_inputs i left join transaction_variant_inputs own
          on own.transaction_id = i.transaction_id and own.variant = carried.variant
            and own.index = i.index
        where i.transaction_id = t.id order by i.index))
    from carried
    join transactions t on t.id = carried.transaction_id
    left join transaction_variants variant on variant.transaction_id = carried.transaction_id
      and variant.variant = carried.variant`,

  inputs: `
    select json_build_array(t.transaction_id, i.index,
      coalesce(previous.transaction_id, i.previous_transaction_hash), i.previous_index, i.sequence,
      case when previous.existed then json_build_array(i.amount, s.version, s.script) end)
    from transaction_inputs i
    join transactions t on t.id = i.transaction_id
    left join known_transactions previous on previous.id = i.previous_transaction_id
    left join scripts s on s.id = i.script_id
    where i.transaction_id in (select transaction_id from carried)`,

  outputs: `
    select json_build_array(t.transaction_id, o.index, o.amount, s.version, s.script,
      s.type, s.address, o.covenant_authorizing_input, o.covenant_id)
    from transaction_outputs o
    join transactions t on t.id = o.transaction_id
    left join scripts s on s.id = o.script_id
    where o.transaction_id in (select transaction_id from carried)`,

  'transactions of addresses': `
    select json_build_array(s.version, s.script, t.transaction_id, a.amount_sent, a.amount_received)
    from address_transactions a
    join scripts s on s.id = a.script_id
    join transactions t on t.id = a.transaction_id
    where t.accepting_index is not null or t.id in (select transaction_id from carried)
      and not exists (
      select from transaction_inputs i
        left join known_transactions previous on previous.id = i.previous_transaction_id
      where i.transaction_id = t.id and previous.existed is not true)`,

  utxos: `
    select json_build_array(t.transaction_id, u.index, s.version, s.script, u.amount,
      u.block_daa_score, u.is_coinbase, u.covenant_id)
    from utxos u left join known_transactions t on t.id = u.transaction_id
      left join scripts s on s.id = u.script_id`,

  balances: `
    select json_build_array(s.version, s.script, b.balance, b.utxo_count)
    from balances b left join scripts s on s.id = b.script_id
      where b.utxo_count <> 0 or b.balance <> 0`,

  'rollups of scripts': `
    select json_build_array(s.version, s.script, b.accepted_count, b.receiving_count,
      b.sending_count, b.coinbase_count, b.received, b.sent, b.first_seen, b.last_seen)
    from balances b left join scripts s on s.id = b.script_id
      where b.accepted_count <> 0 or b.first_seen is not null`,

  intervals: `
    select json_build_array(length, start, chain_blocks, blocks, red_blocks, transactions, fees,
      volume, minted, supply, active_scripts, new_scripts, work)
    from network_intervals`,

  lanes: `
    select json_build_array(n.subnetwork_id, l.transaction_count, l.gas, l.fees,
      l.first_seen, l.last_seen)
    from lanes l left join subnetworks n on n.id = l.subnetwork_id`,

  'hours of lanes': `
    select json_build_array(n.subnetwork_id, h.hour, h.transactions, h.gas, h.fees, h.last_seen)
    from lane_hours h left join subnetworks n on n.id = h.subnetwork_id`,

  'chain blocks of lanes': `
    select json_build_array(b.chain_index, n.subnetwork_id)
    from lane_blocks b left join subnetworks n on n.id = b.subnetwork_id`,

  inscriptions: `
    select json_build_array(t.transaction_id, i.input, s.script, k.protocol, k.operation, k.tick)
    from inscriptions i join inscription_kinds k on k.id = i.kind_id
    left join transactions t on t.id = i.transaction_id
      left join scripts s on s.id = i.owner_script_id
    where i.transaction_id not in (select id from uncertain)`,

  'kinds of inscriptions': `
    select json_build_array(protocol, operation, tick) from inscription_kinds k
    where exists (select from inscriptions i
      where i.kind_id = k.id and i.transaction_id not in (select id from uncertain))`,

  'changes of balances': `
    select json_build_array(s.version, s.script, c.hour, c.change)
    from balance_changes c left join scripts s on s.id = c.script_id where c.change <> 0`,

  covenants: `
    select json_build_array(c.covenant_id, c.event_count, c.balance, c.first_seen, c.last_seen,
      c.utxo_count, c.is_complete) from covenants c`,

  'geneses of covenants': `
    select json_build_array(c.covenant_id, genesis.transaction_id)
    from covenants c join known_transactions genesis on genesis.id = c.genesis_transaction_id`,

  'events of covenants': `
    select json_build_array(e.chain_index, e.position, c.covenant_id, t.transaction_id, e.kind,
      e.previous_seen)
    from covenant_events e left join covenants c on c.id = e.covenant_id
      left join known_transactions t on t.id = e.transaction_id`,

  'hours of covenants': `select json_build_array(hour, kind, events) from covenant_hours where events <> 0`,

  // Spends may be in a variant that is not known.
  'templates of covenants': `
    select json_build_array(c.covenant_id, t.template)
    from covenants c join program_templates t on t.id = c.template_id
      where not exists (select from uncertain)`,

  'templates of events': `
    select json_build_array(e.chain_index, e.position, c.covenant_id, own.template,
      previous.template)
    from covenant_events e
    join covenants c on c.id = e.covenant_id
    left join program_templates own on own.id = e.template_id
    left join program_templates previous on previous.id = e.previous_template_id
    where not exists (select from uncertain)`,

  programs: `
    select json_build_array(p.hash, p.first_seen, p.spend_count, p.length, p.uses, p.is_bare,
      p.kcc_template, template.template)
    from programs p left join program_templates template on template.id = p.template_id
    where not exists (select from uncertain)`,

  'first transactions of programs': `
    select json_build_array(p.hash, t.transaction_id, p.index)
    from programs p join known_transactions t on t.id = p.transaction_id
    where not exists (select from uncertain)`,

  'templates of programs': `
    select json_build_array(template, program_count, spend_count, covenant_count, first_seen)
      from program_templates
    where not exists (select from uncertain)`,

  'spends of programs': `
    select json_build_array(hour, use, spends, fees) from program_use_hours
      where spends <> 0 and not exists (select from uncertain)`,
};

/**
 * Only this many chain blocks below the sink may an index lack an accepted variant that another one
 * knows.
 */
const CHAIN_BLOCKS_OF_OPEN_VARIANTS = 16;

/**
 * Returns the ids of transactions whose accepted variant the indexer has yet to request again, with
 * the next chain blocks; with a limit of infinity also those of which no node can tell, or could
 * when it was asked: scripts without an address make it fail for other transactions, too.
 */
export async function findOpenVariants(
  db: Pick<Connection['pool'], 'query'>,
  chainBlocks = CHAIN_BLOCKS_OF_OPEN_VARIANTS,
): Promise<Buffer[]> {
  const { rows } = await db.query<{ transaction_id: Buffer }>(
    `select t.transaction_id
     from checkpoint
     join chain_blocks c on c.index > checkpoint.chain_index - $1::float8
     join transactions t on t.accepting_index = c.index
     where t.accepted_variant is null
       and t.id in (select transaction_id from transaction_variants)`,
    [chainBlocks],
  );
  return rows.map((row) => row.transaction_id);
}

/** @param uncertain ids of transactions whose accepted variant is left out */
export async function takeSnapshot(
  db: Pick<Connection['pool'], 'query'>,
  uncertain: readonly Buffer[] = [],
): Promise<Snapshot> {
  const snapshot: Snapshot = new Map();
  for (const [section, sql] of Object.entries(SECTIONS)) {
    const { rows } = await db.query<{ json_build_array: string }>(
      `with ${VISIBLE} select json_build_array::text from (${sql}) section`,
      [uncertain],
    );
    snapshot.set(section, rows.map((row) => row.json_build_array).sort());
  }
  return snapshot;
}

/** Returns the sections that do not depend on the bootstrap block. */
export function stateOf(snapshot: Snapshot): Snapshot {
  return new Map([...snapshot].filter(([section]) => STATE_SECTIONS.has(section)));
}

const MAX_SHOWN_ROWS = 3;

/** Describes how the second differs from the first, with a few rows of each section. */
export function differencesOf(first: Snapshot, second: Snapshot): string[] {
  const found: string[] = [];
  for (const [section, rows] of first) {
    const others = second.get(section) ?? [];
    const [own, their] = [new Set(rows), new Set(others)];
    if (rows.length !== others.length) found.push(`${section}: ${rows.length} rows became ${others.length}`);
    const missing = rows.filter((row) => !their.has(row));
    const added = others.filter((row) => !own.has(row));
    found.push(...missing.slice(0, MAX_SHOWN_ROWS).map((row) => `${section}: without ${row}`));
    found.push(...added.slice(0, MAX_SHOWN_ROWS).map((row) => `${section}: with ${row}`));
  }
  return found;
}

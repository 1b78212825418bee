/**
 * Invariant 7: every block of every mergeset since the bootstrap block is present with all its
 * transactions, or there is a row in `gaps`. Every reference leads to a row, lists have no holes,
 * and repeated columns agree; merkle roots prove the variants (invariant 8). Pre-bootstrap blocks
 * and transactions may be known by hash only, in `pre_bootstrap_blocks` and
 * `pre_bootstrap_transactions`.
 */
import { transactionIdIs } from '@kasgres/database';
import { MAX_SOMPI } from '@kasgres/kaspa';
import { isStandby, type Queryable } from '@kasgres/state';
import { type Faults, findFaults } from './queries.ts';
import { EVERYTHING, type From } from './since.ts';

/** Bootstrap blocks whose mergeset is not indexed: the first one, and those after a gap. */
const BARE_BOOTSTRAPS = `
  bare_bootstraps as (
    select s.chain_index, s.block_id from bootstrap_blocks s join blocks b on b.id = s.block_id
    where s.chain_index = (select min(index) from chain_blocks)
      or b.hash in (select before_block_hash from gaps)
  )`;

/** The number of the segment of the chain, between gaps. */
const SEGMENT = '(select count(*) from bare_bootstraps s where s.chain_index <= c.index)';

/** The merges of chain blocks, except of those bootstrap blocks. */
const merges = (chainIndex: bigint): string => `
  ${BARE_BOOTSTRAPS},
  merges as (
    select chain.id, merged.id as merged_id, merged.is_blue, c.index, ${SEGMENT} as segment
    from chain_blocks c join blocks chain on chain.id = c.block_id
    cross join lateral (
      select unnest(chain.merge_set_blues) as id, true as is_blue
      union all select unnest(chain.merge_set_reds), false
    ) merged
    where c.index >= ${chainIndex} and c.index not in (select chain_index from bare_bootstraps)
  )`;

const bootstrapsAndGaps = ({ chainIndex }: From): Faults => ({
  'the chain has a hole before index {}': `
    select c.index from chain_blocks c
    join blocks b on b.id = c.block_id
    left join chain_blocks previous on previous.index = c.index - 1
    left join blocks parent on parent.id = previous.block_id
    where c.index > (select min(index) from chain_blocks) and c.index >= ${chainIndex}
      and previous.block_id is distinct from b.selected_parent_id
      and not exists (
        select from gaps join bootstrap_blocks on bootstrap_blocks.block_id = b.id
        where after_block_hash = parent.hash and before_block_hash = b.hash
      )`,
  'the chain begins at index {} without a bootstrap block': `
    select min(index) from chain_blocks
      having min(index) not in (select chain_index from bootstrap_blocks)`,
  'the bootstrap block at index {} is not the chain block there': `
    select s.chain_index from bootstrap_blocks s left join chain_blocks c on c.index = s.chain_index
    where c.block_id is distinct from s.block_id`,
  'the bootstrap block at index {} accepts transactions, which are pre-bootstrap': `
    with ${BARE_BOOTSTRAPS}
    select chain_index from bare_bootstraps s join chain_blocks c on c.index = s.chain_index
    where cardinality(c.accepted_transactions) > 0`,
  'the gap before {} is not between a bootstrap block and the chain block before it': `
    select encode(g.before_block_hash, 'hex') from gaps g
    where not exists (
      select from bootstrap_blocks s
      join blocks b on b.id = s.block_id
      join chain_blocks previous on previous.index = s.chain_index - 1
      join blocks parent on parent.id = previous.block_id
      where b.hash = g.before_block_hash and parent.hash = g.after_block_hash
    )`,
});

const blocks = ({ chainIndex, blockId }: From): Faults => ({
  'chain block {} is not flagged as one, or a block beside the chain is': `
    select coalesce(encode(b.hash, 'hex'), c.block_id::text)
    from chain_blocks c left join blocks b on b.id = c.block_id
    where c.index >= ${chainIndex} and b.is_chain_block is distinct from true
    union all
    select encode(b.hash, 'hex') from blocks b
    where b.id >= ${blockId} and b.is_chain_block
      and not exists (select from chain_blocks c where c.block_id = b.id)`,
  // A block that was merged before a gap may be merged again after it, if the chain was reorganised
  // meanwhile: the last merge counts.
  'mergeset of chain block {}: a block is missing, or does not point to it with its colour': `
    with ${merges(chainIndex)},
    last as (select distinct on (merged_id) * from merges order by merged_id, index desc)
    select encode(chain.hash, 'hex')
    from last join blocks chain on chain.id = last.id
    left join blocks b on b.id = last.merged_id
    where b.merging_block_id is distinct from last.id or b.is_blue is distinct from last.is_blue
    union all
    select coalesce(encode(chain.hash, 'hex'), b.merging_block_id::text) from blocks b
    left join blocks chain on chain.id = b.merging_block_id
    left join chain_blocks c on c.block_id = b.merging_block_id
    where b.id >= ${blockId} and b.merging_block_id is not null
      and coalesce(c.index, ${chainIndex}) >= ${chainIndex}
      and not exists (select from last where last.merged_id = b.id)`,
  // The database keeps hashes unique within each partition only.
  'block {} has two rows': `
    select encode(hash, 'hex') from blocks group by hash having count(*) > 1`,
  'block {} is on the chain twice': `
    select encode(b.hash, 'hex') from chain_blocks c join blocks b on b.id = c.block_id
      group by b.hash having count(*) > 1`,
  'block {} is merged twice': `
    with ${merges(chainIndex)}
    select encode(b.hash, 'hex') from merges join blocks b on b.id = merges.merged_id
    group by b.hash, merges.segment having count(*) > 1`,
  'block {}: a parent is missing': `
    select encode(b.hash, 'hex') from blocks b
    where b.id >= ${blockId} and ((b.selected_parent_id is null
      and b.id <> (select block_id from chain_blocks order by index limit 1))
      or (
        select count(coalesce(parent.id, earlier.id)) from block_parents p
        left join blocks parent on parent.id = p.parent_id
        left join pre_bootstrap_blocks earlier on earlier.id = p.parent_id
        where p.block_id = b.id
      ) <> (
        select greatest(case when b.selected_parent_id is null then 0 else 1 end, max(p.index) + 1)
        from block_parents p where p.block_id = b.id
      ))`,
  'block {}: its selected parent or a block of its mergeset is unknown': `
    select encode(b.hash, 'hex') from blocks b
    cross join lateral unnest(b.selected_parent_id || b.merge_set_blues || b.merge_set_reds) named (id)
    left join blocks known on known.id = named.id
    left join pre_bootstrap_blocks earlier on earlier.id = named.id
    where b.id >= ${blockId} and named.id is not null and known.id is null and earlier.id is null`,
  'pre-bootstrap block {} has a row in blocks, too': `
    select encode(e.hash, 'hex') from pre_bootstrap_blocks e join blocks b on b.id = e.id
    union all
    select encode(e.hash, 'hex') from pre_bootstrap_blocks e join blocks b on b.hash = e.hash`,
  'block {}: a transaction is missing': `
    select encode(b.hash, 'hex') from blocks b
    where b.id >= ${blockId} and (
      select count(t.id) from block_transactions bt
        left join transactions t on t.id = bt.transaction_id where bt.block_id = b.id
    ) <> (select greatest(1, max(bt.index) + 1) from block_transactions bt
      where bt.block_id = b.id)`,
  'block {}: wrong number of transactions': `
    select encode(b.hash, 'hex') from blocks b
    where b.id >= ${blockId}
      and b.transaction_count <> (select count(*) from block_transactions bt
        where bt.block_id = b.id)`,
  'block {}: the script of its miner is missing': `
    select encode(b.hash, 'hex') from blocks b left join scripts s on s.id = b.miner_script_id
    where b.id >= ${blockId} and b.miner_script_id is not null and s.id is null`,
  'block {} carries a variant that is not stored': `
    select encode(b.hash, 'hex') from block_transactions bt
    join blocks b on b.id = bt.block_id
    where bt.block_id >= ${blockId} and bt.variant > 0
      -- A look-up each: a join by order of the ids alone would compare all variants of an id with each other.
      and not exists (
        select from transaction_variants variant
        where variant.transaction_id = bt.transaction_id and variant.variant = bt.variant offset 0
      )`,
});

const transactions = ({ chainIndex, transactionId }: From): Faults => ({
  'removed chain block {} accepted something else when it was a chain block': `
    select encode(b.hash, 'hex') from removed_chain_blocks r join blocks b on b.id = r.block_id
    left join chain_blocks c on c.block_id = r.block_id
    where c.accepted_transactions <> r.accepted_transactions
      or exists (
        select from unnest(r.accepted_transactions) accepted (id)
          left join transactions t using (id) where t.id is null
      )`,
  'transaction {} is accepted twice': `
    with ${BARE_BOOTSTRAPS},
    listed as (
      select unnest(c.accepted_transactions) as id, ${SEGMENT} as segment from chain_blocks c
        where c.index >= ${chainIndex}
    )
    select coalesce(encode(t.transaction_id, 'hex'), twice.id::text)
    from (select id from listed group by id, segment having count(*) > 1) twice
      left join transactions t on t.id = twice.id`,
  // A transaction that was accepted before a gap may be accepted again after it: the last
  // acceptance counts.
  'transaction {} does not point to the chain block that accepts it': `
    with listed as (
      select unnest(accepted_transactions) as id, index from chain_blocks
        where index >= ${chainIndex}
    ),
    last as (select distinct on (id) id, index from listed order by id, index desc)
    select coalesce(encode(t.transaction_id, 'hex'), last.id::text)
    from last left join transactions t on t.id = last.id
    where last.index is distinct from t.accepting_index
    union all
    select encode(t.transaction_id, 'hex') from transactions t
    where t.id >= ${transactionId} and t.accepting_index >= ${chainIndex}
      and not exists (select from last where last.id = t.id)`,
  // Only the UTXOs of the bootstrap's set are known of a pre-bootstrap transaction, until a block
  // carries it again.
  'transaction {}: an input has lost its UTXO, or has another amount or script than its UTXO': `
    select encode(t.transaction_id, 'hex') from transaction_inputs i
    join transactions t on t.id = i.transaction_id
    left join transactions previous on previous.id = i.previous_transaction_id
    left join pre_bootstrap_transactions earlier on earlier.id = i.previous_transaction_id
    left join transaction_outputs o
      on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
        and o.index >> 4 = i.previous_index >> 4
    left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
      and u.index = i.previous_index
    where i.transaction_id >= ${transactionId} and i.previous_transaction_id is not null
      and case
        when previous.id is null and earlier.id is null then true
        when i.amount is null then
          i.script_id is not null or u.amount is not null
            or (o.amount is not null and earlier.id is null)
        when u.amount is not null then i.amount <> u.amount or i.script_id
          is distinct from u.script_id
        when o.amount is not null then i.amount <> o.amount or i.script_id
          is distinct from o.script_id
        -- The utxos of a start that was not the last are not kept.
        else earlier.id is null or (select count(*) from bootstrap_blocks where utxo_count > 0) < 2
      end`,
  'transaction {}: an input names its UTXO by a hash that has a key, or still has an amount or script': `
    select encode(t.transaction_id, 'hex') from transaction_inputs i
    join transactions t on t.id = i.transaction_id
    left join transactions previous on ${transactionIdIs('previous', 'i.previous_transaction_hash')}
    left join pre_bootstrap_transactions earlier
      on earlier.transaction_id = i.previous_transaction_hash
    where i.transaction_id >= ${transactionId} and i.previous_transaction_hash <> ''
      and (i.amount is not null or i.script_id is not null
        or (coalesce(previous.id, earlier.id) is not null and not exists (
          select from late_transactions late
          where late.transaction_id = i.previous_transaction_hash
            and late.from_transaction <= i.transaction_id)))`,
  'late transaction {} is unknown': `
    select late.id::text from late_transactions late
    where not exists (select from transactions t where t.id = late.id)
      and not exists (select from pre_bootstrap_transactions e where e.id = late.id)`,
  'transaction {} is accepted, but the UTXO of an input is not known, or its transaction never was accepted': `
    select encode(t.transaction_id, 'hex') from transaction_inputs i
    join transactions t on t.id = i.transaction_id
    left join transactions previous on previous.id = i.previous_transaction_id
    left join pre_bootstrap_transactions earlier on earlier.id = i.previous_transaction_id
    where i.transaction_id >= ${transactionId} and t.accepting_index is not null
      and (i.amount is null or (previous.accepting_index is null and earlier.id is null))`,
  // One whose inputs were resolved late has no fee until it is accepted.
  'transaction {}: wrong fee': `
    select encode(t.transaction_id, 'hex') from transactions t
    where t.id >= ${transactionId} and (t.fee is not null or t.accepting_index is not null)
      and t.fee is distinct from case
      when t.subnetwork_id = 1 then 0
      when exists (select from transaction_inputs i
        where i.transaction_id = t.id and i.amount is null) then null
      else (
        select case when fee between 0 and ${MAX_SOMPI} then fee end from (
          select (select sum(i.amount) from transaction_inputs i where i.transaction_id = t.id)
            - (select coalesce(sum(o.amount), 0) from transaction_outputs o
              where o.transaction_id = t.id) as fee) summed)
    end`,
  'pre-bootstrap transaction {} has another key than its row in transactions': `
    select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e
      join transactions t on t.id = e.id
    where e.id >= ${transactionId} and t.transaction_id <> e.transaction_id
    union all
    select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e
    join transactions t on ${transactionIdIs('t', 'e.transaction_id')}
    where e.id >= ${transactionId} and t.id <> e.id`,
  // Only the UTXO set of the latest bootstrap block is kept.
  'pre-bootstrap transaction {} has no UTXO at the bootstrap block': `
    select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e
    where e.id >= ${transactionId}
      and (select count(*) from bootstrap_blocks where utxo_count > 0) < 2
      and not exists (select from bootstrap_utxos u where u.transaction_id = e.id)`,
  'UTXO {} of the bootstrap block: its script or its transaction is missing, or was accepted since, or has another output there': `
    select coalesce(encode(coalesce(e.transaction_id, t.transaction_id), 'hex'),
      u.transaction_id::text) || ':' || u.index
    from bootstrap_utxos u
    left join pre_bootstrap_transactions e on e.id = u.transaction_id
    left join transactions t on t.id = u.transaction_id
    left join chain_blocks c on c.index = t.accepting_index
    left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index
      and o.index >> 4 = u.index >> 4
    left join scripts s on s.id = u.script_id
    where u.transaction_id >= ${transactionId} and (s.id is null
      or (e.id is null and c.index is null)
      or c.index > (select max(chain_index) from bootstrap_blocks)
      or (t.id is not null and (o.amount is distinct from u.amount or o.script_id
        is distinct from u.script_id
        or o.covenant_id is distinct from u.covenant_id)))`,
});

/**
 * Repeated columns of chain blocks and the checkpoint. Keys of pre-bootstrap blocks and
 * transactions come from the same sequences.
 */
const chainRows = ({ chainIndex }: From): Faults => ({
  'chain block {}': `
    select format('%s has DAA score %s, timestamp %s, hash %s and blue score %s, its block %s, %s, %s and %s', c.index, c.daa_score, c.timestamp,
      encode(c.hash, 'hex'), c.blue_score, b.daa_score, b.timestamp,
      encode(b.hash, 'hex'), b.blue_score)
    from chain_blocks c join blocks b on b.id = c.block_id
    where c.index >= ${chainIndex} 
      and (c.daa_score, c.timestamp, c.hash, c.blue_score)
        is distinct from (b.daa_score, b.timestamp, b.hash, b.blue_score)`,
  'the checkpoint is at {}': `
    select format('block %s, index %s, and the chain ends with block %s, index %s', p.block_id,
      p.chain_index, top.block_id, top.index)
    from checkpoint p left join (select index, block_id from chain_blocks order by index desc
      limit 1) top on true
    where (p.chain_index, p.block_id) is distinct from (top.index, top.block_id)`,
  'checkpoint.{} is in use': `
    select format('%s is %s, and %s', name, next, used) from checkpoint p
    cross join lateral (values
      ('next_block_id', p.next_block_id,
      (select greatest((select max(id) from blocks), (select max(id) from pre_bootstrap_blocks)))),
        ('next_transaction_id', p.next_transaction_id,
        (select greatest((select max(id) from transactions),
          (select max(id) from pre_bootstrap_transactions)))),
      ('next_script_id', p.next_script_id, (select max(id) from scripts)),
      ('next_subnetwork_id', p.next_subnetwork_id::bigint,
      (select max(id)::bigint from subnetworks))
    ) keys (name, next, used)
    where next <= used`,
  'checkpoint.virtual_merge_set: block {}': `
    select format('%s %s', merged.id, case
        when b.id is null then 'is no block'
        when b.is_chain_block then 'is on the chain'
        when b.merging_block_id is not null then 'is merged already'
        else 'is there twice'
      end)
    from (select id, count(*) from checkpoint p
      cross join unnest(p.virtual_merge_set) as merged (id) group by id) merged
    left join blocks b on b.id = merged.id
    where b.id is null or b.is_chain_block or b.merging_block_id is not null or merged.count > 1`,
});

const LOAD: Faults = {
  'the load of a UTXO set has {}': `
    select format('%s UTXOs of %s sompi, its rows are %s of %s', coalesce(l.utxos, 0),
      coalesce(l.sompi, 0), c.count, c.sompi)
    from (select count(*) as count, coalesce(sum(amount), 0) as sompi from loaded_utxos) c
    left join utxo_set_load l on true
    where c.count <> coalesce(l.utxos, 0) or c.sompi <> coalesce(l.sompi, 0)`,
};

/** Reads all rows, so that --since leaves it out. */
const HISTORY: Faults = {
  'no block refers to pre-bootstrap block {}': `
    with named as (
      select parent_id as id from block_parents
      union all
      select unnest(selected_parent_id || merge_set_blues || merge_set_reds) from blocks
    )
    select encode(e.hash, 'hex') from pre_bootstrap_blocks e
    where not exists (select from named where named.id = e.id)`,
};

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function checkInvariant7(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  return await findFaults(db, {
    ...bootstrapsAndGaps(from),
    ...blocks(from),
    ...transactions(from),
    ...chainRows(from),
    ...(from === EVERYTHING && HISTORY),
    ...(!(await isStandby(db)) && LOAD),
  });
}

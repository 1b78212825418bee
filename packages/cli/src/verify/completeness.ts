/**
 * Invariant 7: every block of every mergeset since the bootstrap block is present with all its transactions, or there is a row in `gaps`. Every
 * reference leads to a row, lists have no holes, and repeated columns agree (chain-rows.ts); merkle roots prove the variants (invariant 8).
 * Pre-bootstrap blocks and transactions may be known by hash only, in `earlier_blocks` and `earlier_transactions`.
 */
import { checkChainRows } from './chain-rows.ts';
import type { Queryable } from '@kasgres/state';
import { isStandby } from './queryable.ts';
import { EVERYTHING, type From } from './since.ts';

interface Check {
  /** Describes a row of the result; `name` is a hash in hex or a number. */
  fault: (name: string) => string;
  sql: (from: From) => string;
  /** Whether it reads all rows, so that --since leaves it out. */
  needsHistory?: true;
}

/** Bootstrap blocks whose mergeset is not indexed: the first one, and those after a gap. */
const BARE_BOOTSTRAPS = `
  bare_bootstraps as (
    select s.chain_index, s.block_id from starts s join blocks b on b.id = s.block_id
    where s.chain_index = (select min(index) from chain_blocks) or b.hash in (select before_block_hash from gaps)
  )`;

/** The number of the segment of the chain, between gaps. */
const SEGMENT = '(select count(*) from bare_bootstraps s where s.chain_index <= c.index)';

/** The merges of chain blocks, except of those bootstrap blocks. */
const merges = ({ chainIndex }: From): string => `
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

const BOOTSTRAPS_AND_GAPS: Check[] = [
  {
    fault: (name) => `the chain has a hole before index ${name}`,
    sql: (from) => `
      select c.index::text as name from chain_blocks c
      join blocks b on b.id = c.block_id
      left join chain_blocks previous on previous.index = c.index - 1
      left join blocks parent on parent.id = previous.block_id
      where c.index > (select min(index) from chain_blocks) and c.index >= ${from.chainIndex}
        and previous.block_id is distinct from b.selected_parent_id
        and not exists (
          select from gaps join starts on starts.block_id = b.id
          where after_block_hash = parent.hash and before_block_hash = b.hash
        )`,
  },
  {
    fault: (name) => `the chain begins at index ${name} without a bootstrap block`,
    sql: () => `
      select min(index)::text as name from chain_blocks
      having min(index) <> 0 or min(index) not in (select chain_index from starts)`,
  },
  {
    fault: (name) => `the bootstrap block at index ${name} is not the chain block there`,
    sql: () => `
      select s.chain_index::text as name from starts s left join chain_blocks c on c.index = s.chain_index
      where c.block_id is distinct from s.block_id`,
  },
  {
    fault: (name) => `the bootstrap block at index ${name} accepts transactions, which are pre-bootstrap`,
    sql: () => `
      with ${BARE_BOOTSTRAPS}
      select chain_index::text as name from bare_bootstraps s join chain_blocks c on c.index = s.chain_index
      where cardinality(c.accepted_transactions) > 0`,
  },
  {
    fault: (name) => `the gap before ${name} is not between a bootstrap block and the chain block before it`,
    sql: () => `
      select encode(g.before_block_hash, 'hex') as name from gaps g
      where not exists (
        select from starts s
        join blocks b on b.id = s.block_id
        join chain_blocks previous on previous.index = s.chain_index - 1
        join blocks parent on parent.id = previous.block_id
        where b.hash = g.before_block_hash and parent.hash = g.after_block_hash
      )`,
  },
];

const BLOCKS: Check[] = [
  {
    fault: (name) => `chain block ${name} is not flagged as one, or a block beside the chain is`,
    sql: (from) => `
      select coalesce(encode(b.hash, 'hex'), c.block_id::text) as name
      from chain_blocks c left join blocks b on b.id = c.block_id
      where c.index >= ${from.chainIndex} and b.is_chain_block is distinct from true
      union all
      select encode(b.hash, 'hex') from blocks b
      where b.id >= ${from.blockId} and b.is_chain_block and not exists (select from chain_blocks c where c.block_id = b.id)`,
  },
  {
    // A block that was merged before a gap may be merged again after it, if the chain was reorganised meanwhile: the last merge counts.
    fault: (name) => `mergeset of chain block ${name}: a block is missing, or does not point to it with its colour`,
    sql: (from) => `
      with ${merges(from)},
      last as (select distinct on (merged_id) * from merges order by merged_id, index desc)
      select encode(chain.hash, 'hex') as name
      from last join blocks chain on chain.id = last.id
      left join blocks b on b.id = last.merged_id
      where b.merging_block_id is distinct from last.id or b.is_blue is distinct from last.is_blue
      union all
      select coalesce(encode(chain.hash, 'hex'), b.merging_block_id::text) from blocks b
      left join blocks chain on chain.id = b.merging_block_id
      left join chain_blocks c on c.block_id = b.merging_block_id
      where b.id >= ${from.blockId} and b.merging_block_id is not null and coalesce(c.index, ${from.chainIndex}) >= ${from.chainIndex}
        and not exists (select from last where last.merged_id = b.id)`,
  },
  {
    fault: (name) => `block ${name} is merged twice`,
    sql: (from) => `
      with ${merges(from)}
      select encode(b.hash, 'hex') as name from merges join blocks b on b.id = merges.merged_id
      group by b.hash, merges.segment having count(*) > 1`,
  },
  {
    fault: (name) => `block ${name}: a parent is missing`,
    sql: (from) => `
      select encode(b.hash, 'hex') as name from blocks b
      where b.id >= ${from.blockId} and ((b.selected_parent_id is null and b.id <> (select block_id from chain_blocks order by index limit 1))
        or (
          select count(coalesce(parent.id, earlier.id)) from block_parents p
          left join blocks parent on parent.id = p.parent_id
          left join earlier_blocks earlier on earlier.id = p.parent_id
          where p.block_id = b.id
        ) <> (
          select greatest(case when b.selected_parent_id is null then 0 else 1 end, max(p.index) + 1)
          from block_parents p where p.block_id = b.id
        ))`,
  },
  {
    fault: (name) => `block ${name}: its selected parent or a block of its mergeset is unknown`,
    sql: (from) => `
      select encode(b.hash, 'hex') as name from blocks b
      cross join lateral unnest(b.selected_parent_id || b.merge_set_blues || b.merge_set_reds) named (id)
      left join blocks known on known.id = named.id
      left join earlier_blocks earlier on earlier.id = named.id
      where b.id >= ${from.blockId} and named.id is not null and known.id is null and earlier.id is null`,
  },
  {
    fault: (name) => `pre-bootstrap block ${name} has a row in blocks, too`,
    sql: () => `
      select encode(e.hash, 'hex') as name from earlier_blocks e join blocks b on b.id = e.id
      union all
      select encode(e.hash, 'hex') from earlier_blocks e join blocks b on b.hash = e.hash`,
  },
  {
    fault: (name) => `no block refers to pre-bootstrap block ${name}`,
    needsHistory: true,
    sql: () => `
      with named as (
        select parent_id as id from block_parents
        union all
        select unnest(selected_parent_id || merge_set_blues || merge_set_reds) from blocks
      )
      select encode(e.hash, 'hex') as name from earlier_blocks e
      where not exists (select from named where named.id = e.id)`,
  },
  {
    fault: (name) => `block ${name}: a transaction is missing`,
    sql: (from) => `
      select encode(b.hash, 'hex') as name from blocks b
      where b.id >= ${from.blockId} and (
        select count(t.id) from block_transactions bt left join transactions t on t.id = bt.transaction_id where bt.block_id = b.id
      ) <> (select greatest(1, max(bt.index) + 1) from block_transactions bt where bt.block_id = b.id)`,
  },
  {
    fault: (name) => `block ${name} carries a variant that is not stored`,
    sql: (from) => `
      select encode(b.hash, 'hex') as name from block_transactions bt
      join blocks b on b.id = bt.block_id
      left join transaction_bodies body on body.transaction_id = bt.transaction_id and body.body = bt.body
      where bt.block_id >= ${from.blockId} and bt.body > 0 and body.transaction_id is null`,
  },
];

const TRANSACTIONS: Check[] = [
  {
    fault: (name) => `transaction ${name} is accepted twice`,
    sql: (from) => `
      with ${BARE_BOOTSTRAPS},
      listed as (
        select unnest(c.accepted_transactions) as id, ${SEGMENT} as segment from chain_blocks c where c.index >= ${from.chainIndex}
      )
      select coalesce(encode(t.transaction_id, 'hex'), twice.id::text) as name
      from (select id from listed group by id, segment having count(*) > 1) twice left join transactions t on t.id = twice.id`,
  },
  {
    // A transaction that was accepted before a gap may be accepted again after it: the last acceptance counts.
    fault: (name) => `transaction ${name} does not point to the chain block that accepts it`,
    sql: (from) => `
      with listed as (
        select unnest(accepted_transactions) as id, index, block_id from chain_blocks where index >= ${from.chainIndex}
      ),
      last as (select distinct on (id) id, block_id from listed order by id, index desc)
      select coalesce(encode(t.transaction_id, 'hex'), last.id::text) as name
      from last left join transactions t on t.id = last.id
      where last.block_id is distinct from t.accepting_block_id
      union all
      select encode(t.transaction_id, 'hex') from transactions t left join chain_blocks c on c.block_id = t.accepting_block_id
      where t.id >= ${from.transactionId} and t.accepting_block_id is not null
        and coalesce(c.index, ${from.chainIndex}) >= ${from.chainIndex} and not exists (select from last where last.id = t.id)`,
  },
  {
    // Of a pre-bootstrap transaction only the UTXOs of the bootstrap's set are known, until a block carries it again.
    fault: (name) => `transaction ${name}: an input has lost its UTXO, or has another amount or script than its UTXO`,
    sql: (from) => `
      select encode(t.transaction_id, 'hex') as name from transaction_inputs i
      join transactions t on t.id = i.transaction_id
      left join transactions previous on previous.id = i.previous_transaction_id
      left join earlier_transactions earlier on earlier.id = i.previous_transaction_id
      left join transaction_outputs o on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
      left join start_utxos u on u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
      where i.transaction_id >= ${from.transactionId} and i.previous_transaction_id is not null
        and case
          when previous.id is null and earlier.id is null then true
          when i.amount is null then
            i.script_id is not null or u.amount is not null or (o.amount is not null and earlier.id is null)
          when u.amount is not null then i.amount <> u.amount or i.script_id is distinct from u.script_id
          when o.amount is not null then i.amount <> o.amount or i.script_id is distinct from o.script_id
          -- The utxos of a start that was not the last are not kept.
          else earlier.id is null or (select count(*) from starts where utxo_count > 0) < 2
        end`,
  },
  {
    fault: (name) =>
      `transaction ${name}: an input names its UTXO by a hash that has a key, or has an amount or script all the same`,
    sql: (from) => `
      select encode(t.transaction_id, 'hex') as name from transaction_inputs i
      join transactions t on t.id = i.transaction_id
      left join transactions previous on previous.transaction_id = i.previous_transaction_hash
      left join earlier_transactions earlier on earlier.transaction_id = i.previous_transaction_hash
      where i.transaction_id >= ${from.transactionId} and i.previous_transaction_hash is not null
        and (previous.id is not null or earlier.id is not null or i.amount is not null or i.script_id is not null)`,
  },
  {
    fault: (name) =>
      `transaction ${name} is accepted, but the UTXO of an input is not known, or its transaction never was accepted`,
    sql: (from) => `
      select encode(t.transaction_id, 'hex') as name from transaction_inputs i
      join transactions t on t.id = i.transaction_id
      left join transactions previous on previous.id = i.previous_transaction_id
      left join earlier_transactions earlier on earlier.id = i.previous_transaction_id
      where i.transaction_id >= ${from.transactionId} and t.accepting_block_id is not null
        and (i.amount is null or (previous.accepting_block_id is null and earlier.id is null))`,
  },
  {
    fault: (name) => `transaction ${name}: wrong fee`,
    sql: (from) => `
      select encode(t.transaction_id, 'hex') as name from transactions t
      where t.id >= ${from.transactionId} and t.fee is distinct from case
        when t.subnetwork_id = 1 then 0
        when exists (select from transaction_inputs i where i.transaction_id = t.id and i.amount is null) then null
        else (select sum(i.amount) from transaction_inputs i where i.transaction_id = t.id)
          - (select coalesce(sum(o.amount), 0) from transaction_outputs o where o.transaction_id = t.id)
      end`,
  },
  {
    fault: (name) => `pre-bootstrap transaction ${name} has another key than its row in transactions`,
    sql: (from) => `
      select encode(e.transaction_id, 'hex') as name from earlier_transactions e join transactions t on t.id = e.id
      where e.id >= ${from.transactionId} and t.transaction_id <> e.transaction_id
      union all
      select encode(e.transaction_id, 'hex') from earlier_transactions e join transactions t on t.transaction_id = e.transaction_id
      where e.id >= ${from.transactionId} and t.id <> e.id`,
  },
  {
    // Only the UTXO set of the latest bootstrap block is kept.
    fault: (name) => `pre-bootstrap transaction ${name} has no UTXO at the bootstrap block`,
    sql: (from) => `
      select encode(e.transaction_id, 'hex') as name from earlier_transactions e
      where e.id >= ${from.transactionId} and (select count(*) from starts where utxo_count > 0) < 2
        and not exists (select from start_utxos u where u.transaction_id = e.id)`,
  },
  {
    fault: (name) =>
      `UTXO ${name} of the bootstrap block: its script or its transaction is missing, or was accepted since, or has another output there`,
    sql: (from) => `
      select coalesce(encode(coalesce(e.transaction_id, t.transaction_id), 'hex'), u.transaction_id::text) || ':' || u.index as name
      from start_utxos u
      left join earlier_transactions e on e.id = u.transaction_id
      left join transactions t on t.id = u.transaction_id
      left join chain_blocks c on c.block_id = t.accepting_block_id
      left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index
      left join scripts s on s.id = u.script_id
      where u.transaction_id >= ${from.transactionId} and (s.id is null
        or (e.id is null and c.index is null)
        or c.index > (select max(chain_index) from starts)
        or (t.id is not null and (o.amount is distinct from u.amount or o.script_id is distinct from u.script_id
          or o.covenant_id is distinct from u.covenant_id)))`,
  },
];

const CHECKS = [...BOOTSTRAPS_AND_GAPS, ...BLOCKS, ...TRANSACTIONS];

/** A load of a UTXO set may be in progress. Its tables are unlogged, so a standby has none of them. */
const SELECT_WRONG_LOAD = `
  select coalesce(l.utxos, 0)::text as utxos, coalesce(l.sompi, 0)::text as sompi, c.count::text, c.sompi::text as summed
  from (select count(*) as count, coalesce(sum(amount), 0) as sompi from loaded_utxos) c
  left join utxo_set_load l on true
  where c.count <> coalesce(l.utxos, 0) or c.sompi <> coalesce(l.sompi, 0)`;

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function checkInvariant7(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for (const { sql, fault, needsHistory } of CHECKS) {
    if (needsHistory === true && from !== EVERYTHING) continue;
    // Materialized, since the limit makes the planner expect an early end, and there is usually no fault.
    const { rows } = await db.query<{ name: string }>(
      `with faults as materialized (${sql(from)}) select distinct name from faults limit 20`,
    );
    wrong.push(...rows.map(({ name }) => fault(name)));
  }
  return [...wrong, ...(await checkChainRows(db, from)), ...(await wrongLoad(db))];
}

async function wrongLoad(db: Queryable): Promise<string[]> {
  if (await isStandby(db)) return [];
  const { rows } = await db.query<{ utxos: string; sompi: string; count: string; summed: string }>(SELECT_WRONG_LOAD);
  return rows.map(
    (row) =>
      `the load of a UTXO set has ${row.utxos} UTXOs of ${row.sompi} sompi, its rows are ${row.count} of ${row.summed}`,
  );
}

/**
 * What chain blocks and the checkpoint say of other rows (invariant 7): scores and times of chain blocks are those of their headers, the
 * checkpoint is at the top of the chain, its next keys are free, and its virtual block merges blocks that wait for it.
 */
import type { Queryable } from '@kasgres/state';
import type { From } from './since.ts';

const MOST_FAULTS = 20;

const SELECT_WRONG_CHAIN_BLOCKS = `
  select c.index, c.daa_score, b.daa_score as header_daa_score, c.timestamp, b.timestamp as header_timestamp
  from chain_blocks c join blocks b on b.id = c.block_id
  where c.index >= $1 and (c.daa_score <> b.daa_score or c.timestamp <> b.timestamp)
  order by c.index limit ${MOST_FAULTS}`;

const SELECT_TOP = `
  select p.chain_index, p.block_id, top.index, top.block_id as top_id
  from checkpoint p left join (select index, block_id from chain_blocks order by index desc limit 1) top on true
  where (p.chain_index, p.block_id) is distinct from (top.index, top.block_id)`;

/** Keys of pre-bootstrap blocks and transactions come from the same sequences. */
const SELECT_USED_KEYS = `
  select name, next, used from checkpoint p
  cross join lateral (values
    ('next_block_id', p.next_block_id, (select greatest((select max(id) from blocks), (select max(id) from earlier_blocks)))),
    ('next_transaction_id', p.next_transaction_id,
      (select greatest((select max(id) from transactions), (select max(id) from earlier_transactions)))),
    ('next_script_id', p.next_script_id, (select max(id) from scripts)),
    ('next_subnetwork_id', p.next_subnetwork_id::bigint, (select max(id)::bigint from subnetworks))
  ) keys (name, next, used)
  where next <= used`;

const SELECT_WRONG_VIRTUAL_MERGE_SET = `
  select merged.id, case
      when b.id is null then 'is no block'
      when b.is_chain_block then 'is on the chain'
      when b.merging_block_id is not null then 'is merged already'
      else 'is there twice'
    end as fault
  from (select id, count(*) from checkpoint p cross join unnest(p.virtual_merge_set) as merged (id) group by id) merged
  left join blocks b on b.id = merged.id
  where b.id is null or b.is_chain_block or b.merging_block_id is not null or merged.count > 1
  limit ${MOST_FAULTS}`;

interface WrongChainBlock {
  index: bigint;
  daa_score: bigint;
  header_daa_score: bigint;
  timestamp: bigint;
  header_timestamp: bigint;
}

interface WrongTop {
  chain_index: bigint;
  block_id: bigint;
  /** Null on a chain without blocks. */
  index: bigint | null;
  top_id: bigint | null;
}

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function checkChainRows(db: Queryable, { chainIndex }: From): Promise<string[]> {
  const chain = await db.query<WrongChainBlock>(SELECT_WRONG_CHAIN_BLOCKS, [chainIndex]);
  const top = await db.query<WrongTop>(SELECT_TOP);
  const keys = await db.query<{ name: string; next: bigint; used: bigint }>(SELECT_USED_KEYS);
  const merged = await db.query<{ id: bigint; fault: string }>(SELECT_WRONG_VIRTUAL_MERGE_SET);
  return [
    ...chain.rows.map(
      (row) =>
        `chain block ${row.index} has DAA score ${row.daa_score} and timestamp ${row.timestamp}, its header ${row.header_daa_score} and ` +
        `${row.header_timestamp}`,
    ),
    ...top.rows.map(
      (row) =>
        `the checkpoint is at block ${row.block_id}, index ${row.chain_index}, and the chain ends with block ${row.top_id}, index ${row.index}`,
    ),
    ...keys.rows.map(({ name, next, used }) => `checkpoint.${name} is ${next}, and ${used} is in use`),
    ...merged.rows.map(({ id, fault }) => `block ${id} of checkpoint.virtual_merge_set ${fault}`),
  ];
}

/**
 * A reorg after a gap restores the merging and acceptance of blocks and transactions by the chain
 * before the gap (invariant 7).
 */
import type { ClientBase } from 'pg';

interface Gap {
  /** chain_blocks.index of the bootstrap block after it. */
  chain_index: bigint;
  /** The last chain block before it. */
  block_id: bigint;
}

/** A transaction with the first block that contains it. */
interface Contained {
  id: bigint;
  block: bigint;
}

export async function restoreFromBeforeGap(
  client: ClientBase,
  reverted: { merged: readonly bigint[]; accepted: readonly bigint[] },
): Promise<void> {
  const gap = await findLatestGap(client);
  if (gap === undefined) return;
  // Blocks have lower keys than the chain block that merges them, so there is rarely any to
  // restore, and nothing older needs to be read.
  const merged = reverted.merged.filter((block) => block <= gap.block_id);
  await restoreMerged(client, gap, merged);
  const { rows } = await client.query<Contained>(
    `select transaction_id as id, min(block_id) as block from block_transactions
      where transaction_id = any($1::bigint[]) and block_id <= $2 group by transaction_id`,
    [reverted.accepted, gap.block_id],
  );
  await restoreAccepted(client, gap, rows);
}

async function findLatestGap(client: ClientBase): Promise<Gap | undefined> {
  const { rows } = await client.query<Gap>({
    name: 'find-latest-gap',
    text: `select s.chain_index, last.block_id
             from gaps
             join blocks b on b.hash = gaps.before_block_hash
             join bootstrap_blocks s on s.block_id = b.id
             join chain_blocks last on last.index = s.chain_index - 1
            order by s.chain_index desc limit 1`,
  });
  return rows[0];
}

/** Leaves out bootstrap blocks, whose mergesets are not indexed. */
async function restoreMerged(client: ClientBase, { chain_index }: Gap, blocks: readonly bigint[]): Promise<void> {
  if (blocks.length === 0) return;
  await client.query(
    `update blocks merged set merging_block_id = last.block_id, is_blue = last.is_blue
       from (select distinct on (listed.id) listed.id, listed.is_blue, c.block_id
               from chain_blocks c
               join blocks b on b.id = c.block_id
              cross join lateral (
                select unnest(b.merge_set_blues) as id, true as is_blue
                union all select unnest(b.merge_set_reds), false) listed
              where c.index < $2 and c.block_id > $3 and listed.id = any($1::bigint[])
                and c.index > (select min(index) from chain_blocks)
                  and b.hash not in (select before_block_hash from gaps)
              order by listed.id, c.index desc) last
      where merged.id = last.id`,
    [blocks, chain_index, lowest(blocks)],
  );
}

/** The accepted variant is unknown if the mergeset carried several. */
async function restoreAccepted(
  client: ClientBase,
  { chain_index }: Gap,
  transactions: readonly Contained[],
): Promise<void> {
  if (transactions.length === 0) return;
  await client.query(
    `update transactions t set accepting_index = last.index, accepted_variant = (
              select case when min(bt.variant) = max(bt.variant) then min(bt.variant) end
                from blocks b join block_transactions bt
                  on bt.block_id = any (b.merge_set_blues || b.merge_set_reds)
               where b.id = last.block_id and bt.transaction_id = t.id)
       from (select distinct on (listed.id) listed.id, c.index, c.block_id
               from chain_blocks c cross join lateral unnest(c.accepted_transactions) listed (id)
              where c.index < $2 and c.block_id > $3 and listed.id = any($1::bigint[])
              order by listed.id, c.index desc) last
      where t.id = last.id`,
    [transactions.map(({ id }) => id), chain_index, lowest(transactions.map(({ block }) => block))],
  );
}

const lowest = (keys: readonly bigint[]): bigint => keys.reduce((least, key) => (key < least ? key : least));

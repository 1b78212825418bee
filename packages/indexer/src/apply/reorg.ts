/** Reverts derived state, acceptance and merging. Blocks, transactions and address rows stay, since they are facts of the DAG. */
import { toHex, workFromBits } from '@kasgres/kaspa';
import { revertState } from '@kasgres/state';
import type { ClientBase } from 'pg';
import type { Batch } from '../prepare/batch.ts';
import { restoreFromBeforeGap } from './before-gap.ts';

export async function revertChainBlocks(client: ClientBase, batch: Batch): Promise<void> {
  if (batch.removed.length === 0) return;
  const removed = await getRemoved(client, batch);
  if (batch.state !== undefined) await revertState(client, removed.map(toRemovedBlock), batch.state);
  await clearChain(client, removed);
}

async function clearChain(client: ClientBase, removed: readonly RemovedRow[]): Promise<void> {
  const blocks = removed.map((row) => row.block_id);
  const accepted = removed.flatMap((row) => row.accepted_transactions);
  await client.query(
    'update transactions set accepting_block_id = null, accepted_body = null where id = any($1::bigint[])',
    [accepted],
  );
  const merged = await client.query<{ id: bigint }>(
    `update blocks set merging_block_id = null, is_blue = null
      where id in (select unnest(merge_set_blues || merge_set_reds) from blocks where id = any($1::bigint[])) returning id`,
    [blocks],
  );
  await client.query('update blocks set is_chain_block = false where id = any($1::bigint[])', [blocks]);
  await client.query('delete from chain_blocks where block_id = any($1::bigint[])', [blocks]);
  await restoreFromBeforeGap(client, { merged: merged.rows.map(({ id }) => id), accepted });
}

interface RemovedRow {
  block_id: bigint;
  hash: Buffer;
  index: bigint;
  chain_time: bigint;
  accepted_transactions: bigint[];
  red_blocks: number;
  /** Of the blocks that it merges. */
  bits: bigint[];
}

/** Returns rows in the order of the chain. @throws if the blocks that the node removes are not the top of the indexed chain */
async function getRemoved(client: ClientBase, { removed }: Batch): Promise<RemovedRow[]> {
  const { rows } = await client.query<RemovedRow>(
    `select c.block_id, b.hash, c.index, c.chain_time, c.accepted_transactions,
            cardinality(b.merge_set_reds) as red_blocks,
            array(select merged.bits from blocks merged where merged.id = any (b.merge_set_blues || b.merge_set_reds)) as bits
       from chain_blocks c join blocks b on b.id = c.block_id order by c.index desc limit $1`,
    [removed.length],
  );
  removed.forEach((hash, i) => {
    const found = rows[i]?.hash;
    if (found === undefined || Buffer.compare(found, hash) !== 0) {
      throw new Error(
        `the node removes chain block ${toHex(hash)}, where this database has ${found === undefined ? 'none' : toHex(found)}`,
      );
    }
  });
  return rows.reverse();
}

function toRemovedBlock({ index, chain_time: chainTime, red_blocks, bits, accepted_transactions }: RemovedRow) {
  const work = bits.reduce((sum, each) => sum + workFromBits(Number(each)), 0n);
  return {
    chainBlock: { index: Number(index), chainTime, blocks: bits.length, redBlocks: red_blocks, work },
    accepted: accepted_transactions,
  };
}

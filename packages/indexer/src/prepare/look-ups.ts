/** Small questions to the database before batches are made. */
import { toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Memory } from '../memory/memory.ts';
import type { Checkpoint } from './batch.ts';
import type { Fork } from './preparer.ts';

/** The chain block that remains when the top `removed` are undone. */
export async function findFork(client: ClientBase, from: Checkpoint, removed: number): Promise<Fork> {
  const { rows } = await client.query<{ block_id: bigint; hash: Buffer; blue_score: bigint; index: bigint }>(
    `select c.block_id, b.hash, b.blue_score, c.index
       from chain_blocks c join blocks b on b.id = c.block_id where c.index = $1`,
    [from.chainIndex - removed],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`the node removes ${removed} chain blocks, more than this database has`);
  return {
    blockId: Number(row.block_id),
    hash: row.hash,
    blueScore: row.blue_score,
    chainIndex: Number(row.index),
  };
}

export async function loadSubnetworks(client: ClientBase, memory: Memory): Promise<void> {
  const { rows } = await client.query<{ id: number; subnetwork_id: Buffer }>(
    'select id, subnetwork_id from subnetworks',
  );
  for (const row of rows) memory.subnetworks.set(toHex(row.subnetwork_id), row.id);
}

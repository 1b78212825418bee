/** The checkpoint row: read after every failure, written by every batch, created by the first bootstrap. */
import type { Network } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Batch, Checkpoint } from '../prepare/batch.ts';

interface CheckpointRow {
  block_id: bigint;
  hash: Buffer;
  blue_score: bigint;
  chain_index: bigint;
  chain_time: bigint;
  next_block_id: bigint;
  next_transaction_id: bigint;
  next_script_id: bigint;
  next_subnetwork_id: bigint;
  first_catch_up: boolean;
}

/** Returns undefined before the first bootstrap. */
export async function findCheckpoint(client: ClientBase): Promise<Checkpoint | undefined> {
  const { rows } = await client.query<CheckpointRow>(
    `select c.block_id, b.hash, b.blue_score, c.chain_index, chain.chain_time, c.next_block_id, c.next_transaction_id, c.next_script_id,
            c.next_subnetwork_id, c.first_catch_up
       from checkpoint c join blocks b on b.id = c.block_id join chain_blocks chain on chain.index = c.chain_index`,
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    blockId: Number(row.block_id),
    hash: row.hash,
    blueScore: row.blue_score,
    chainIndex: Number(row.chain_index),
    chainTime: row.chain_time,
    nextBlockId: Number(row.next_block_id),
    nextTransactionId: Number(row.next_transaction_id),
    nextScriptId: Number(row.next_script_id),
    nextSubnetworkId: Number(row.next_subnetwork_id),
    firstCatchUp: row.first_catch_up,
  };
}

/** @param circulatingDelta sompi */
export async function writeCheckpoint(client: ClientBase, batch: Batch, circulatingDelta: bigint): Promise<void> {
  const { to, virtualMergeSet, targetBlueScore, secondsLeft } = batch;
  await client.query({
    name: 'write-checkpoint',
    text: `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id, next_script_id, next_subnetwork_id,
             circulating_sompi, virtual_merge_set, first_catch_up, target_blue_score, seconds_left, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8::bigint[], $9, $10, $11, now())
           on conflict (one_row) do update set
             block_id = excluded.block_id, chain_index = excluded.chain_index, next_block_id = excluded.next_block_id,
             next_transaction_id = excluded.next_transaction_id, next_script_id = excluded.next_script_id,
             next_subnetwork_id = excluded.next_subnetwork_id,
             circulating_sompi = checkpoint.circulating_sompi + excluded.circulating_sompi,
             virtual_merge_set = excluded.virtual_merge_set, target_blue_score = excluded.target_blue_score,
             seconds_left = excluded.seconds_left, updated_at = excluded.updated_at`,
    values: [
      to.blockId,
      to.chainIndex,
      to.nextBlockId,
      to.nextTransactionId,
      to.nextScriptId,
      to.nextSubnetworkId,
      circulatingDelta,
      virtualMergeSet,
      to.firstCatchUp,
      targetBlueScore,
      secondsLeft,
    ],
  });
}

/** For a bootstrap: its UTXO set has taken keys, and the node does not know the blocks that were not merged yet. */
export async function writeNextKeys(
  client: ClientBase,
  { nextTransactionId, nextScriptId }: Pick<Checkpoint, 'nextTransactionId' | 'nextScriptId'>,
): Promise<void> {
  await client.query(
    `update checkpoint set next_transaction_id = $1, next_script_id = $2, virtual_merge_set = '{}', updated_at = now()`,
    [nextTransactionId, nextScriptId],
  );
}

/** Returns the network of the index, or undefined before the first bootstrap. */
export async function findNetworkOfDatabase(client: ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

export async function writeNetwork(client: ClientBase, network: Network): Promise<void> {
  await client.query('insert into meta (network) values ($1) on conflict do nothing', [network.id]);
}

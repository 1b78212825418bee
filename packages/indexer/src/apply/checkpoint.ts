import type { Network } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Batch, Checkpoint } from '../prepare/batch.ts';

/** Returns undefined before the first bootstrap. Keys are below 2 ** 53, where float8 is exact. */
export async function findCheckpoint(client: ClientBase): Promise<Checkpoint | undefined> {
  const { rows } = await client.query<Checkpoint>(
    `select c.block_id::float8 as "blockId", b.hash, b.blue_score as "blueScore", c.chain_index::float8 as "chainIndex",
            chain.chain_time as "chainTime", c.next_block_id::float8 as "nextBlockId",
            c.next_transaction_id::float8 as "nextTransactionId",
            c.next_script_id::float8 as "nextScriptId",
            c.next_subnetwork_id::float8 as "nextSubnetworkId", c.first_catch_up as "firstCatchUp"
       from checkpoint c join blocks b on b.id = c.block_id
         join chain_blocks chain on chain.index = c.chain_index`,
  );
  return rows[0];
}

export async function writeCheckpoint(client: ClientBase, batch: Batch, circulatingDelta: bigint): Promise<void> {
  const { to, virtualMergeSet, targetBlueScore, secondsLeft } = batch;
  await client.query({
    name: 'write-checkpoint',
    text: `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
             next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set,
             first_catch_up, target_blue_score, seconds_left, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8::bigint[], $9, $10, $11, now())
           on conflict (one_row) do update set
             block_id = excluded.block_id, chain_index = excluded.chain_index,
             next_block_id = excluded.next_block_id,
             next_transaction_id = excluded.next_transaction_id,
             next_script_id = excluded.next_script_id,
             next_subnetwork_id = excluded.next_subnetwork_id,
             circulating_sompi = checkpoint.circulating_sompi + excluded.circulating_sompi,
             virtual_merge_set = excluded.virtual_merge_set,
             target_blue_score = excluded.target_blue_score, seconds_left = excluded.seconds_left,
             updated_at = excluded.updated_at, version = next_version(checkpoint.version)`,
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

/**
 * Writes the keys after a bootstrap's UTXO set, and clears the blocks that are not merged yet,
 * which the node does not know.
 */
export async function writeNextKeys(
  client: ClientBase,
  { nextTransactionId, nextScriptId }: Pick<Checkpoint, 'nextTransactionId' | 'nextScriptId'>,
): Promise<void> {
  await client.query(
    `update checkpoint set next_transaction_id = $1, next_script_id = $2, virtual_merge_set = '{}',
      updated_at = now(), version = next_version(version)`,
    [nextTransactionId, nextScriptId],
  );
}

export async function findNetworkOfDatabase(client: ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ network: string }>('select network from meta');
  return rows[0]?.network;
}

export async function writeNetwork(client: ClientBase, network: Network): Promise<void> {
  await client.query('insert into meta (network) values ($1) on conflict do nothing', [network.id]);
}

import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { IncompleteUpdateError } from '../errors.ts';
import type { Batch } from '../prepare/batch.ts';
import { revertChainBlocks } from './reorg.ts';

const CHAIN = 4;

let database: TestDatabase;
let client: PoolClient;
/** From the bottom of the chain to its top. */
let hashes: Buffer[];
beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query(
    `insert into blocks (id, timestamp, bits, daa_score, blue_score, version, transaction_count, is_chain_block,
       nonce, blue_work, hash, hash_merkle_root, accepted_id_merkle_root, utxo_commitment,
       pruning_point, parents_by_level, merge_set_blues, merge_set_reds)
     select i, 0, 0, i, i, 1, 1, true, 0, 0, hash, hash, hash, hash, hash, '', '{}', '{}'
       from generate_series(1, $1::integer) i, sha256(int4send(i)) hash`,
    [CHAIN],
  );
  await client.query(
    `insert into chain_blocks (index, block_id, blue_score, daa_score, timestamp, chain_time, highest_transaction,
       lowest_transaction, hash, accepted_transactions)
     select id, id, blue_score, daa_score, 0, 0, 0, 0, hash, '{}' from blocks`,
  );
  const { rows } = await client.query<{ hash: Buffer }>('select hash from chain_blocks order by index');
  hashes = rows.map(({ hash }) => hash);
});
afterEach(async () => {
  client.release();
  await database.drop();
});

async function revert(removed: readonly Uint8Array[]): Promise<number | null> {
  const batch = { removed, mergedBefore: [], acceptedBefore: [], chainBefore: [], oldestRemoved: 0 };
  await revertChainBlocks(client, batch as unknown as Batch);
  return (await client.query('select from chain_blocks')).rowCount;
}

test('the top of the chain is removed, from the sink down', async () => {
  expect(await revert(hashes.slice(-2).reverse())).toBe(CHAIN - 2);
});

test.each([
  ['a block that is not indexed', () => [Buffer.alloc(32, 9)]],
  ['a block below the sink', () => [hashes[2]]],
  ['blocks in another order', () => hashes.slice(-2)],
  ['a block of another branch below the sink', () => [hashes[3], Buffer.alloc(32, 9)]],
  ['more blocks than there are', () => [...hashes.toReversed(), Buffer.alloc(32, 9)]],
])('a node that removes %s is refused', async (_case, removed) => {
  await expect(revert(removed() as Buffer[])).rejects.toThrow(IncompleteUpdateError);
  expect((await client.query('select from chain_blocks')).rowCount).toBe(CHAIN);
});

import { createTestDatabase, insertChain, type TestDatabase } from '@kasgres/database/testing';
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
  hashes = await insertChain(client, CHAIN);
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

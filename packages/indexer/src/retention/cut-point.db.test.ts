import { createTestDatabase, insertChain, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCutPoint } from './cut-point.ts';
import type { Retention } from './retention.ts';

/** Generations have ten chain blocks. */
const FIRSTS = [0, 10, 20, 30];
const SINK = 30;
/** Both for each chain block. */
const BLUE_SCORE = 2;
const MILLISECONDS = 1000;

let database: TestDatabase;
let client: PoolClient;
beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query('select end_generation(0, 10)');
  for (const [generation, first] of FIRSTS.entries()) {
    if (generation > 0) await client.query('select make_generation($1, $2, $3)', [generation, first, first + 10]);
  }
  await insertChain(client, SINK + 1, { blueScore: BLUE_SCORE, milliseconds: MILLISECONDS });
  await client.query(
    'insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) values (0, 0, 0, 0)',
  );
  await client.query(
    `insert into clustering (chain_index, block_id, next_merge_id, next_held_merge_id, updated_at)
     values ($1, $1, 0, 0, now())`,
    [SINK],
  );
  await client.query(
    `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id, next_script_id,
       next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up, target_blue_score,
       updated_at)
     values ($1, $1, 0, 0, 0, 0, 0, '{}', false, 0, now())`,
    [SINK],
  );
});
afterEach(async () => {
  client.release();
  await database.drop();
});

const ofBlueScore = (chainBlocks: number): Retention => ({
  kind: 'blue score',
  blueScore: BigInt(chainBlocks * BLUE_SCORE),
});
const ofTime = (chainBlocks: number): Retention => ({
  kind: 'milliseconds',
  milliseconds: BigInt(chainBlocks * MILLISECONDS),
});

/** Returns the index of the chain block. */
async function find(retention: Retention, pruningDepth = 10n): Promise<number | undefined> {
  return (await findCutPoint(client, retention, { pruningDepth }))?.chainIndex;
}

test.each([
  ['blue score', ofBlueScore],
  ['time', ofTime],
])('the latest generation is chosen before which everything is older, by %s', async (_unit, ofLength) => {
  expect(await find(ofLength(10))).toBe(20);
  expect(await find(ofLength(11))).toBe(10);
  expect(await find(ofLength(20))).toBe(10);
  expect(await find(ofLength(21))).toBeUndefined();
});

test.each([
  ['blue score', ofBlueScore(1)],
  ['time', ofTime(1)],
])('nothing above the pruning depth is cut, however short a retention by %s is', async (_unit, retention) => {
  expect(await find(retention, 20n)).toBe(20);
  expect(await find(retention, 21n)).toBe(10);
  expect(await find(retention, 41n)).toBeUndefined();
});

test('a cut waits for clustering, a gap and the first catch-up', async () => {
  await client.query('update clustering set chain_index = 20');
  expect(await find(ofBlueScore(5))).toBe(20);
  await client.query('update clustering set chain_index = 19');
  expect(await find(ofBlueScore(5))).toBe(10);
  await client.query('update clustering set chain_index = 9');
  expect(await find(ofBlueScore(5))).toBeUndefined();

  await client.query('update clustering set chain_index = 30');
  await client.query(
    'insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) values (19, 19, 0, 0)',
  );
  expect(await find(ofBlueScore(5))).toBe(20);
  expect(await find(ofBlueScore(11))).toBeUndefined();
  await client.query('update bootstrap_blocks set chain_index = 20 where chain_index = 19');
  expect(await find(ofBlueScore(5))).toBeUndefined();

  await client.query('update bootstrap_blocks set chain_index = 2 where chain_index = 20');
  expect(await find(ofBlueScore(5))).toBe(20);
  await client.query('update checkpoint set first_catch_up = true');
  expect(await find(ofBlueScore(5))).toBeUndefined();
});

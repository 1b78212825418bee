import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Statistics } from './statistics.ts';

let database: TestDatabase;
let client: PoolClient;
let written = 0;
beforeEach(async () => {
  written = 0;
  database = await createTestDatabase();
  client = await database.pool.connect();
});
afterEach(async () => {
  client.release();
  await database.drop();
});

const writtenTransactions = (rows: number) => ({ rows: { transactions: { table: 'transactions', rows } } });

/**
 * Writes a batch of transactions, and returns how many Postgres counted when it analysed the table
 * last: -1 if never.
 */
async function countAfterBatch(statistics: Statistics, transactions: number): Promise<number> {
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     select key, sha256(key::text::bytea), sha256(key::text::bytea), 0, 0, 0, 0, '', 0, 0, 0
       from generate_series($1::bigint, $2::bigint) as key`,
    [written + 1, written + transactions],
  );
  written += transactions;
  await statistics.update(client, writtenTransactions(transactions));
  const { rows } = await client.query<{ counted: number }>(
    `select reltuples::integer as counted from pg_class where oid = 'transactions'::regclass`,
  );
  return rows[0]?.counted ?? Number.NaN;
}

test('it analyses the tables each time they have doubled', async () => {
  const statistics = new Statistics();
  expect(await countAfterBatch(statistics, 99)).toBe(-1);
  expect(await countAfterBatch(statistics, 1)).toBe(100);
  expect(await countAfterBatch(statistics, 99)).toBe(100);
  expect(await countAfterBatch(statistics, 1)).toBe(200);
  expect(await countAfterBatch(statistics, 199)).toBe(200);
});

test('it analyses the tables when one of them has doubled, however large the others are', async () => {
  const statistics = new Statistics();
  expect(await countAfterBatch(statistics, 100_001)).toBe(100_001);
  expect(await countAfterBatch(statistics, 1_000)).toBe(100_001);
  await statistics.update(client, { rows: { scripts: { table: 'scripts', rows: 100 } } });
  expect(await countAfterBatch(statistics, 0)).toBe(101_001);
});

test('it continues from what was counted before a restart', async () => {
  await countAfterBatch(new Statistics(), 500);
  const statistics = new Statistics();
  expect(await countAfterBatch(statistics, 499)).toBe(500);
  expect(await countAfterBatch(statistics, 1)).toBe(1000);
});

test('it leaves a large index to autovacuum', async () => {
  const statistics = new Statistics();
  expect(await countAfterBatch(statistics, 100_001)).toBe(100_001);
  expect(await countAfterBatch(statistics, 100_002)).toBe(100_001);
});

test('it analyses once at a time, and counts what is written meanwhile for the next time', async () => {
  const analyses: PromiseWithResolvers<void>[] = [];
  const slow = {
    query: async (text: string, values?: unknown[]) => {
      if (!text.startsWith('analyze')) return await client.query(text, values);
      const analysis = Promise.withResolvers<void>();
      analyses.push(analysis);
      return await analysis.promise;
    },
  } as unknown as TestDatabase['pool'];
  const statistics = new Statistics();
  const grow = (rows: number) => statistics.update(slow, writtenTransactions(rows));
  const first = grow(100);
  await expect.poll(() => analyses.length).toBe(1);
  await grow(99);
  expect(analyses).toHaveLength(1);
  analyses[0]?.resolve();
  await first;
  await grow(0);
  expect(analyses).toHaveLength(1);
  const second = grow(1);
  await expect.poll(() => analyses.length).toBe(2);
  analyses[1]?.resolve();
  await second;
});

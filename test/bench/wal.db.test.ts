import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enableWalStatistics, measureWal, readWalPosition } from '../../bench/wal.ts';

let database: TestDatabase;
let reads: boolean;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  reads = await enableWalStatistics(database);
});
afterAll(async () => await database.drop());

test('it measures the bytes of a log that has been removed', async () => {
  const from = await readWalPosition(database);
  await database.pool.query('create table numbers as select generate_series(1, 10000) as number');
  await database.pool.query('insert into numbers select number from numbers');
  await database.pool.query('select pg_switch_wal()');
  await database.pool.query('checkpoint');
  const { bytes, fullPageBytes } = await measureWal(database, from, await readWalPosition(database), reads);
  expect(bytes).toBeGreaterThan(500_000);
  expect(fullPageBytes).toBeUndefined();
});

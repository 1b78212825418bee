import { connect } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runBench } from './run-bench.ts';

const positive = z.number().positive();
const output = z.object({
  isSimulated: z.literal(true),
  medians: z.object({
    nodeFirstSeconds: positive,
    nodeSecondSeconds: positive,
    nodeToCommitSeconds: positive,
    ratioToNode: positive,
    catchUpSeconds: positive,
    waitSeconds: positive,
    prepareSeconds: positive,
    applySeconds: positive,
    finishSeconds: positive,
    bareCopySeconds: positive,
    transactions: positive,
    rows: positive,
    bytesPerTransaction: positive,
    ...(process.platform === 'linux' && { indexerPeakBytes: positive }),
  }),
  runs: z.array(z.object({ transactions: positive })).length(2),
});

const pruned = z.object({
  isSimulated: z.literal(true),
  medians: z.object({
    bootstrapSeconds: positive,
    catchUpSeconds: positive,
    finishSeconds: positive,
    transactions: z.literal(212),
  }),
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => await database.drop());

test('it measures two catch-ups with a simulated node, and keeps only the last database', async () => {
  const own = new URL(database.url).pathname.slice(1);
  const name = `bench_${own}_kept`;
  const variables = {
    DATABASE_URL: database.url,
    DEVNET_PAST_BLOCKS: '150',
    DEVNET_PAST_TRANSACTIONS: '300',
    DEVNET_COINBASE_MATURITY: '20',
  };
  const { medians } = output.parse(await runBench('sync.ts', ['--runs', '2', '--keep', name], variables));
  expect(medians.nodeToCommitSeconds).toBeGreaterThan(medians.catchUpSeconds);

  const { rows } = await database.pool.query<{ name: string }>(
    'select datname as name from pg_database where datname ^@ $1',
    [`bench_${own}`],
  );
  expect(rows).toEqual([{ name }]);
  const kept = connect({ url: new URL(name, database.url).toString(), applicationName: 'kasgres test', max: 1 });
  try {
    const { rows: counts } = await kept.pool.query<{ transactions: number; bare: boolean }>(
      `select count(*)::integer as transactions, to_regnamespace('bare') is not null as bare from transactions`,
    );
    expect(counts).toEqual([{ transactions: medians.transactions, bare: false }]);
  } finally {
    await kept.close();
    await database.pool.query(`drop database ${name}`);
  }
});

test('it measures a catch-up from a pruning point with a generated UTXO set', async () => {
  const options = ['--runs', '1', '--pruned', '0.002', '--transactions', '200'];
  const { medians } = pruned.parse(await runBench('sync.ts', options, { DATABASE_URL: database.url }));
  expect(medians.catchUpSeconds).toBeGreaterThan(medians.bootstrapSeconds + medians.finishSeconds);
});

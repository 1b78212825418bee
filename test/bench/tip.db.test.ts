import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runBench } from './run-bench.ts';

const positive = z.number().positive();
const output = z.object({
  isSimulated: z.literal(true),
  readsPerSecond: z.literal(20),
  medians: z.object({
    sinks: positive,
    latencyP50Ms: positive,
    latencyP99Ms: positive,
    blocksPerSecond: positive,
    transactionsPerSecond: positive,
    walBytesPerTransaction: positive,
    readP50Ms: positive,
    readP99Ms: positive,
  }),
  runs: z.array(z.object({ sinks: positive })).length(2),
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => await database.drop());

test('it measures latencies and WAL on a simulated node', async () => {
  const variables = {
    DATABASE_URL: database.url,
    DEVNET_PAST_BLOCKS: '150',
    DEVNET_PAST_TRANSACTIONS: '300',
    DEVNET_COINBASE_MATURITY: '20',
  };
  const args = ['--runs', '2', '--seconds', '3', '--reads-per-second', '20', '--transactions-per-second', '20'];
  const { medians } = output.parse(await runBench('tip.ts', args, variables));
  expect(medians.latencyP99Ms).toBeGreaterThanOrEqual(medians.latencyP50Ms);
});

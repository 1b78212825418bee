import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runBench } from './run-bench.ts';

const positive = z.number().positive();
const output = z.object({
  clients: z.literal(20),
  idle: z.literal(50),
  medians: z.object({ tipP50Ms: positive, tipWithStreamsP50Ms: positive, eventP50Ms: positive, eventP99Ms: positive }),
  runs: z.array(z.object({ events: positive })).length(1),
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => await database.drop());

test('it measures events and the tip on a simulated node', async () => {
  const variables = { DATABASE_URL: database.url, DEVNET_PAST_BLOCKS: '150', DEVNET_PAST_TRANSACTIONS: '300' };
  const args = ['--runs', '1', '--seconds', '3', '--clients', '20', '--idle', '50'];
  const { medians, runs } = output.parse(await runBench('streams.ts', args, variables));
  expect(medians.eventP99Ms).toBeGreaterThanOrEqual(medians.eventP50Ms);
  // Each client gets most of the sinks.
  expect(runs[0]?.events).toBeGreaterThan(100);
});

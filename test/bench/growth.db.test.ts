import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runBench } from './run-bench.ts';

const positive = z.number().positive();
const output = z.object({
  transactionsPerBatch: z.literal(20),
  marks: z
    .array(
      z.object({
        transactions: positive,
        batchMs: positive,
        pageMs: positive,
        lookUpMs: positive,
        databaseBytes: positive,
      }),
    )
    .length(3),
  ratios: z.object({ batch: positive, page: positive, lookUp: positive }),
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => await database.drop());

test('it measures batches, full pages and look-ups at growing sizes', async () => {
  const args = ['--first', '2000', '--transactions', '6000', '--marks', '3', '--runs', '2', '--samples', '20'];
  const { marks, ratios } = output.parse(await runBench('growth.ts', args, { DATABASE_URL: database.url }));
  const [first, middle, last] = marks.map(({ transactions }) => transactions) as [number, number, number];
  expect(first).toBeGreaterThanOrEqual(2000);
  expect(middle).toBeGreaterThanOrEqual(3464);
  expect(middle).toBeLessThan(6000);
  expect(last).toBeGreaterThanOrEqual(6000);
  expect(ratios.page).toBeCloseTo((marks[2]?.pageMs ?? 0) / (marks[0]?.pageMs ?? 0), 2);
});

/**
 * Plans of analysts' queries on a million transactions in one partition, as without RETENTION:
 * indexes serve longer ranges than with ten partitions.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fastQueries, findFullReadsOf } from './fast-queries.ts';
import { FILL_DEADLINE_MS, type Harness, openHarness } from './harness.ts';
import { findLandmarks } from './requests.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ generations: 1 });
}, FILL_DEADLINE_MS);
afterAll(async () => {
  await harness?.close();
});

test('it reads no whole table for the queries that docs/sql.md calls fast, over a day and 100 chain blocks', async () => {
  const queries = fastQueries(await findLandmarks(harness.database.pool), { hours: 24, chainBlocks: 100 });
  expect(await findFullReadsOf(queries, [harness.likeApi, harness.likeApiUnconfigured])).toEqual([]);
});

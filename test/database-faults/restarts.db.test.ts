/**
 * Postgres stops in any way under the indexer and the API, and is started again (invariants 1 and
 * 5).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { AT_COMMIT, holdEveryBatch, releaseBatches, untilHeld, WITH_ROWS_WRITTEN } from './held-steps.ts';
import type { OwnPostgres } from './own-postgres.ts';
import { openApi, expectRecovery, follow, growChain, mineWhile, openHarness, type Harness } from './harness.ts';

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  harness = await openHarness('restarts');
  harness.simulatedDag.mine(40);
  ({ api, stop: stopApi } = await openApi(harness));
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

/** Returns the first chain block whose removal restores when its scripts were last seen. */
async function firstRestorable(): Promise<number | null | undefined> {
  const { rows } = await harness.database.pool.query<{ first: number | null }>(
    'select min(chain_index)::integer as first from seen_before',
  );
  return rows[0]?.first;
}

const ENDS: [string, (postgres: OwnPostgres) => Promise<void>][] = [
  ['stopped fast', (postgres) => postgres.stop('fast')],
  ['stopped immediately', (postgres) => postgres.stop('immediate')],
  ['killed', (postgres) => postgres.kill()],
];

describe.each(ENDS)('the indexer and the API recover when Postgres is %s', (_, end) => {
  test('while the chain grows', async () => {
    const indexer = follow(harness);
    await atRest(harness.database, harness.node, indexer);
    growChain(harness);
    await atRest(harness.database, harness.node, indexer);
    const first = await firstRestorable();
    expect(first).toEqual(expect.any(Number));
    const statusOfSink = async (): Promise<number> => (await api.request('/v1/rpc/getSink')).status;
    await mineWhile(
      harness,
      (async () => {
        await end(harness.postgres);
        await expect.poll(statusOfSink, { timeout: 10_000 }).toBe(503);
        await harness.postgres.startAgain();
      })(),
    );
    await expectRecovery(harness, indexer, api);
    expect(await firstRestorable()).toBe(first);
  });

  test.each([
    ['in the middle of a batch, with rows written', WITH_ROWS_WRITTEN],
    ['at commit', AT_COMMIT],
  ])('%s', async (_where, trigger) => {
    const indexer = follow(harness);
    await atRest(harness.database, harness.node, indexer);
    await holdEveryBatch(harness, trigger);
    growChain(harness);
    await untilHeld(harness);
    await end(harness.postgres);
    await harness.postgres.startAgain();
    await releaseBatches(harness);
    await expectRecovery(harness, indexer, api);
  });
});

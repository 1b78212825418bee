/**
 * The API's connections to the database fall silent: no request hangs, new connections replace
 * them, and their sessions end at the server.
 */
import { sleep } from '@kasgres/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { openApi, openHarness, type Harness, queryPatiently } from './harness.ts';

/** As in test/api/outages: the API gives up a silent connection after some seconds. */
const SILENCE_MS = 9_000;
/** Enough concurrent requests to use every connection of the API. */
const AT_ONCE = 12;
/** Each request may meet several lost connections. */
const RECOVERED_WITHIN_MS = 60_000;
const TIMEOUT_MS = 180_000;

const SELECT_LEFT = "from pg_stat_activity where application_name = 'kasgres api' and state = 'idle in transaction'";

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  harness = await openHarness('silence for the API');
  harness.simulatedDag.mine(40);
  const indexer = startIndexing(harness.simulatedDag, harness.postgres.url);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
  ({ api, stop: stopApi } = await openApi(harness));
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

/** Returns the statuses of many concurrent requests. Throws Error if one takes too long. */
async function askAtOnce(): Promise<number[]> {
  return await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const begun = performance.now();
      const { status, json, headers } = await api.request('/v1/rpc/getBlocks', { body: {} });
      expect(performance.now() - begun).toBeLessThan(SILENCE_MS);
      if (status !== 200) {
        expect(status).toBe(503);
        expect(json['message']).toMatch(/^The database (is out of reach|took too long|is busy)$/);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      return status;
    }),
  );
}

async function expectRecovered(): Promise<void> {
  await expect
    .poll(async () => new Set(await askAtOnce()), { timeout: RECOVERED_WITHIN_MS, interval: 500 })
    .toEqual(new Set([200]));
}

test(
  'every request gets a prompt response when idle and busy connections are lost, and succeeds on new ones',
  async () => {
    await expectRecovered();
    harness.proxy.lose();
    await askAtOnce();
    await expectRecovered();
    // Responses are under way.
    const asking = askAtOnce();
    await sleep(5);
    harness.proxy.lose();
    await asking;
    await expectRecovered();
  },
  TIMEOUT_MS,
);

test(
  'the server soon ends a transaction whose connection was lost',
  async () => {
    await expectRecovered();
    const locker = await harness.database.pool.connect();
    await locker.query('begin; lock table checkpoint in access exclusive mode');
    const asking = askAtOnce();
    await expect
      .poll(() => queryPatiently(harness.database, "select from pg_stat_activity where wait_event_type = 'Lock'"))
      .toBeGreaterThan(0);
    harness.proxy.lose();
    await locker.query('rollback');
    locker.release();
    await expect.poll(() => queryPatiently(harness.database, `select ${SELECT_LEFT}`)).toBeGreaterThan(0);
    await asking;
    await expectRecovered();
    await expect
      .poll(() => queryPatiently(harness.database, `select ${SELECT_LEFT}`), { timeout: 30_000, interval: 500 })
      .toBe(0);
  },
  TIMEOUT_MS,
);

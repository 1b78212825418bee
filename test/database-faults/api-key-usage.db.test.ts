/**
 * The database connection is lost while the usage of API keys is written: each request is counted
 * exactly once, or at most once after a crash.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { holdEveryBatch, releaseBatches, untilHeld } from './held-steps.ts';
import { openApi, openHarness, type Harness, queryPatiently } from './harness.ts';

const WHEN_WRITTEN = 'trigger hold before insert on api_key_usage for each row';
const AT_COMMIT =
  'constraint trigger hold after insert or update on api_key_usage deferrable initially deferred for each row';
/** Longer than the API waits for the database. */
const HELD_SECONDS = 8;
/** Usage is written every five seconds; the locks of a lost session are free after ten. */
const WRITTEN_WITHIN_MS = 45_000;

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;
/** Counts the requests whose response had a cost. */
let charged = 0;

beforeAll(async () => {
  harness = await openHarness('usage');
  harness.simulatedDag.mine(20);
  const indexer = startIndexing(harness.simulatedDag, harness.postgres.url);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
  ({ api, stop: stopApi } = await openApi(harness));
});
afterEach(async () => {
  await queryPatiently(harness.database, 'drop function if exists hold cascade');
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

/** Waits for this many responses. */
async function ask(times: number): Promise<void> {
  for (let succeeded = 0; succeeded < times; ) {
    const { status, headers } = await api.request('/v1/rpc/getCurrentNetwork');
    if (Number(headers.get('x-request-cost-ru')) > 0) charged += 1;
    if (status === 200) succeeded += 1;
  }
}

async function counted(): Promise<number> {
  const { rows } = await harness.database.pool.query<{ requests: number }>(
    'select coalesce(sum(requests), 0)::float8 as requests from api_key_usage',
  );
  return rows[0]?.requests ?? 0;
}

/** Waits for a later write, after which the failed one is settled. */
async function expectEachCountedOnce(): Promise<void> {
  await ask(1);
  await expect.poll(counted, { timeout: WRITTEN_WITHIN_MS }).toBeGreaterThanOrEqual(charged);
  expect(await counted()).toBe(charged);
}

test.each([
  ['cut while the use is written', WHEN_WRITTEN, () => harness.proxy.pass()],
  ['cut at commit', AT_COMMIT, () => harness.proxy.pass()],
  ['lost without a word while the use is written', WHEN_WRITTEN, () => harness.proxy.lose()],
  ['lost without a word at commit', AT_COMMIT, () => harness.proxy.lose()],
])('usage is counted exactly once when the connection is %s', async (_, trigger, fail) => {
  await holdEveryBatch(harness, trigger, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  fail();
  await queryPatiently(harness.database, 'drop function hold cascade');
  await expectEachCountedOnce();
});

test.each([
  ['while the use is written', WHEN_WRITTEN],
  ['at commit', AT_COMMIT],
])('usage is counted exactly once when the session is ended %s', async (_, trigger) => {
  await holdEveryBatch(harness, trigger, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  await releaseBatches(harness);
  await expectEachCountedOnce();
});

test('usage is counted exactly once when Postgres is restarted at commit', async () => {
  await holdEveryBatch(harness, AT_COMMIT, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  await harness.postgres.stop('fast');
  await harness.postgres.startAgain();
  await releaseBatches(harness);
  await expectEachCountedOnce();
});

test('usage is counted at most once when Postgres crashes at commit', async () => {
  const before = await counted();
  await holdEveryBatch(harness, AT_COMMIT, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  const heldToo = charged;
  await harness.postgres.stop('immediate');
  await harness.postgres.startAgain();
  await releaseBatches(harness);
  await ask(1);
  const possible = [before + charged - heldToo, charged];
  await expect.poll(counted, { timeout: WRITTEN_WITHIN_MS }).toBeOneOf(possible);
});

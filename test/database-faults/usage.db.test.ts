/** The way to the database is lost while the use of keys is being written: each request is counted exactly once, after a crash at most once. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { holdEveryBatch, letBatchesGo, untilHeld } from './held-batches.ts';
import { answer, openHarness, type Harness, untilItResponses } from './harness.ts';

const WHEN_WRITTEN = 'trigger hold before insert on api_key_usage for each row';
const AT_COMMIT =
  'constraint trigger hold after insert or update on api_key_usage deferrable initially deferred for each row';
/** Longer than the API waits for an answer. */
const HELD_SECONDS = 8;
/** The use is written every five seconds; what a lost session has locked is free after ten. */
const WRITTEN_WITHIN_MS = 45_000;

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;
/** Requests whose answer said that they cost something. */
let charged = 0;

beforeAll(async () => {
  harness = await openHarness('usage');
  harness.simulatedDag.mine(20);
  const indexer = startIndexing(harness.simulatedDag, harness.postgres.url);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
  ({ api, stop: stopApi } = await answer(harness));
});
afterEach(async () => {
  await untilItResponses(harness.database, 'drop function if exists hold cascade');
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

/** Until so many were answered. */
async function ask(times: number): Promise<void> {
  for (let answered = 0; answered < times; ) {
    const { status, headers } = await api.request('/v1/rpc/getCurrentNetwork');
    if (Number(headers.get('x-request-cost-ru')) > 0) charged += 1;
    if (status === 200) answered += 1;
  }
}

async function counted(): Promise<number> {
  const { rows } = await harness.database.pool.query<{ requests: number }>(
    'select coalesce(sum(requests), 0)::float8 as requests from api_key_usage',
  );
  return rows[0]?.requests ?? 0;
}

/** Written after what failed, so that this has been settled. */
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
])('the connection is %s', async (_, trigger, fail) => {
  await holdEveryBatch(harness, trigger, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  fail();
  await untilItResponses(harness.database, 'drop function hold cascade');
  await expectEachCountedOnce();
});

test.each([
  ['while the use is written', WHEN_WRITTEN],
  ['at commit', AT_COMMIT],
])('the session is ended %s', async (_, trigger) => {
  await holdEveryBatch(harness, trigger, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  await letBatchesGo(harness);
  await expectEachCountedOnce();
});

test('Postgres is stopped at commit, and started again', async () => {
  await holdEveryBatch(harness, AT_COMMIT, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  await harness.postgres.stop('fast');
  await harness.postgres.startAgain();
  await letBatchesGo(harness);
  await expectEachCountedOnce();
});

test('Postgres crashes at commit: what it had to write may be lost, and is not written twice', async () => {
  const before = await counted();
  await holdEveryBatch(harness, AT_COMMIT, HELD_SECONDS);
  await ask(3);
  await untilHeld(harness);
  const heldToo = charged;
  await harness.postgres.stop('immediate');
  await harness.postgres.startAgain();
  await letBatchesGo(harness);
  await ask(1);
  const possible = [before + charged - heldToo, charged];
  await expect.poll(counted, { timeout: WRITTEN_WITHIN_MS }).toBeOneOf(possible);
});

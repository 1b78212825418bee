/**
 * The API's connections to the database are lost without a word: no request hangs, new connections take their place, and what lives on at
 * the server ends by itself.
 */
import { sleep } from '@kasgres/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpClient } from '../api/http-client.ts';
import { atRest } from '../simulation/stage.ts';
import { startIndexing } from '../simulation/world.ts';
import { answer, openStage, type Stage, untilItAnswers } from './stage.ts';

/** As test/api/outages: what falls silent is given up after some seconds. */
const SILENCE_MS = 9_000;
/** So many at once that each of the API's connections is in use. */
const AT_ONCE = 12;
/** Of which each may meet some connections that were lost. */
const RECOVERED_WITHIN_MS = 60_000;
const TIMEOUT_MS = 180_000;

const SELECT_LEFT = "from pg_stat_activity where application_name = 'kasgres api' and state = 'idle in transaction'";

let stage: Stage;
let api: HttpClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  stage = await openStage('silence for the API');
  stage.world.mine(40);
  const indexer = startIndexing(stage.world, stage.postgres.url);
  await atRest(stage.database, stage.node, indexer);
  await indexer.stop();
  ({ api, stop: stopApi } = await answer(stage));
});
afterAll(async () => {
  await stopApi();
  await stage.close();
});

/** Statuses of many requests at once. @throws when one of them takes too long */
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
  'connections at rest and at work are lost: each request is answered soon, and with new ones all are',
  async () => {
    await expectRecovered();
    stage.proxy.lose();
    await askAtOnce();
    await expectRecovered();
    // In the middle of answers.
    const asking = askAtOnce();
    await sleep(5);
    stage.proxy.lose();
    await asking;
    await expectRecovered();
  },
  TIMEOUT_MS,
);

test(
  'an answer is lost in the middle of its transaction: the server ends that soon',
  async () => {
    await expectRecovered();
    const locker = await stage.database.pool.connect();
    await locker.query('begin; lock table checkpoint in access exclusive mode');
    const asking = askAtOnce();
    await expect
      .poll(() => untilItAnswers(stage.database, "select from pg_stat_activity where wait_event_type = 'Lock'"))
      .toBeGreaterThan(0);
    stage.proxy.lose();
    await locker.query('rollback');
    locker.release();
    await expect.poll(() => untilItAnswers(stage.database, `select ${SELECT_LEFT}`)).toBeGreaterThan(0);
    await asking;
    await expectRecovered();
    await expect
      .poll(() => untilItAnswers(stage.database, `select ${SELECT_LEFT}`), { timeout: 30_000, interval: 500 })
      .toBe(0);
  },
  TIMEOUT_MS,
);

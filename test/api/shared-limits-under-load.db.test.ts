/**
 * RATE_LIMIT_STORE=postgres with three API processes under a thousand outstanding requests, while
 * the store is slow, silent, gone and back: a key never spends more than its limit.
 */
import { createKey } from '@kasgres/database';
import { TcpProxy } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Program, startApi } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

const PROCESSES = 3;
const OUTSTANDING = 1000;
const CHEAP = '/v1/rpc/getCurrentNetwork';

let harness: Harness;
let proxy: TcpProxy;
const programs: Program[] = [];
const urls: string[] = [];

beforeAll(async () => {
  harness = await openHarness({ rounds: 20 });
  proxy = await TcpProxy.start(harness.database.url);
  for (let process = 0; process < PROCESSES; process += 1) {
    const { program, url } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: proxy.url },
      undefined,
      { RATE_LIMIT_STORE: 'postgres', DATABASE_READ_URL: harness.database.url },
    );
    programs.push(program);
    urls.push(url);
  }
});
afterAll(async () => {
  proxy.pass();
  await Promise.all(programs.map((program) => program.stop()));
  proxy.stop();
  await harness.close();
});

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The table cannot be read for so long, again and again. */
async function slowDown(times: number, lockedMs: number, pauseMs: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const locker = await harness.database.pool.connect();
    await locker.query('begin; lock table rate_limits in access exclusive mode');
    await sleep(lockedMs);
    await locker.query('rollback');
    locker.release();
    await sleep(pauseMs);
  }
}

async function trouble(): Promise<void> {
  await sleep(1000);
  await slowDown(5, 300, 100);
  await slowDown(2, 1500, 200);
  proxy.swallow();
  await sleep(2500);
  proxy.pass();
  await sleep(1500);
  proxy.refuse();
  await sleep(1500);
  proxy.pass();
  await sleep(2500);
}

/**
 * Requests of one key to all processes, each as soon as the one before it was served.
 * @returns how often each status came
 */
async function flood(key: string, isOver: () => boolean): Promise<Map<number, number>> {
  const clients = urls.map((url) => new ApiClient(url, key));
  const counts = new Map<number, number>();
  const worker = async (_: unknown, number: number): Promise<void> => {
    const client = clients[number % PROCESSES] as ApiClient;
    while (!isOver()) {
      const { status } = await client.request(CHEAP);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status === 503) await sleep(50);
    }
  };
  await Promise.all(Array.from({ length: OUTSTANDING / 2 }, worker));
  return counts;
}

test('a key never exceeds its limit, even if the shared store fails', { timeout: 120_000 }, async () => {
  const { kysely } = harness.database;
  const longWindow = await createKey(kysely, { name: 'long', rateRu: 20, windowSeconds: 3600, concurrency: 1000 });
  const shortWindow = await createKey(kysely, { name: 'short', rateRu: 2, windowSeconds: 1, concurrency: 1000 });
  const begun = performance.now();
  let over = false;
  const floods = Promise.all([flood(longWindow.key, () => over), flood(shortWindow.key, () => over)]);
  await trouble();
  over = true;
  const [long, short] = await floods;
  const seconds = Math.ceil((performance.now() - begun) / 1000);

  // 200 calls in an hour; a second's worth of that is nothing.
  expect(long.get(200)).toBeLessThanOrEqual(200);
  // Statements whose outcome is unknown may have charged what was never served, but no more than
  // one for each trouble and process.
  expect(long.get(200)).toBeGreaterThan(0);
  // 20 calls a second.
  expect(short.get(200)).toBeLessThanOrEqual(20 * (seconds + 1));
  expect(short.get(200)).toBeGreaterThan(0);
  for (const counts of [long, short]) expect(new Set(counts.keys())).toEqual(new Set([200, 429, 503]));
  // How many were served meanwhile depends on the machine; now that the store is back, each process
  // serves again.
  for (const url of urls) {
    const client = new ApiClient(url, shortWindow.key);
    await expect.poll(async () => (await client.request(CHEAP)).status, { timeout: 10_000 }).toBe(200);
  }
  for (const program of programs) expect(program.isRunning()).toBe(true);
});

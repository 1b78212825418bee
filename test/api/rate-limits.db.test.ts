/**
 * Rate limits as clients meet them: what a key may spend, what it is told of it, and several API
 * processes that share it.
 */
import { createKey, type NewKey } from '@kasgres/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Program, startApi } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { openHarness, type Harness } from './harness.ts';
import { whileStoreResponds } from './while-store-responds.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
});
afterAll(() => harness.close());

/** Cost 0.1 and 0.5. */
const CHEAP = '/v1/rpc/getCurrentNetwork';
const DEAR = '/v1/rpc/getBlocks';

const remaining = async (client: ApiClient | undefined) =>
  client === undefined ? 0 : Number((await cheap(client)).headers.get('ratelimit-remaining'));

type Limits = Omit<NewKey, 'name'>;

async function clientWith(limits: Limits, url = harness.api.url): Promise<ApiClient & { id: bigint }> {
  const { id, key } = await createKey(harness.database.kysely, { name: 'limited', ...limits });
  return Object.assign(new ApiClient(url, key), { id });
}

const cheap = (client: ApiClient) => client.request(CHEAP);
const dear = (client: ApiClient) => client.request(DEAR, { body: {} });

const headersOf = ({ headers }: ApiResponse) =>
  ['x-request-cost-ru', 'ratelimit-limit', 'ratelimit-remaining'].map((name) => headers.get(name));

const usageOf = (id: bigint) =>
  harness.database.kysely.selectFrom('api_key_usage').selectAll().where('api_key_id', '=', id).execute();

describe('the window of a key', () => {
  test('it is in the headers of every response', async () => {
    const client = await clientWith({ rateRu: 500, windowSeconds: 60 });
    const first = await cheap(client);
    expect(headersOf(first)).toEqual(['0.1', '500;w=60', '499.9']);
    expect(first.headers.get('ratelimit-reset')).toMatch(/^(60|59)$/);
    expect(first.headers.get('retry-after')).toBeNull();
    const responses = [
      await client.request(CHEAP, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }),
      await client.request(DEAR, { body: '{' }),
      await client.request(DEAR, { body: { lowHash: 'ab'.repeat(32) } }),
      await client.request(DEAR, { body: '{}', headers: { 'content-type': 'text/plain' } }),
      await client.request(DEAR, { body: `"${'x'.repeat(2 ** 20)}"` }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([304, 400, 404, 415, 413]);
    expect(responses.map(headersOf)).toEqual([
      ['0.1', '500;w=60', '499.8'],
      ['0.5', '500;w=60', '499.3'],
      ['0.5', '500;w=60', '498.8'],
      ['0.5', '500;w=60', '498.3'],
      ['0.5', '500;w=60', '497.8'],
    ]);
    await expect.poll(() => usageOf(client.id), { timeout: 10_000 }).toMatchObject([{ requests: 6n, ru: '2.2' }]);
  });

  test('it refuses excess requests exactly, without a charge', async () => {
    const client = await clientWith({ rateRu: 1, windowSeconds: 60 });
    expect((await dear(client)).status).toBe(200);
    for (let request = 0; request < 4; request += 1) await cheap(client);
    const refused = await dear(client);
    expect(refused.status).toBe(429);
    expect(refused.text).toBe('{"statusCode":429,"message":"Rate limit exceeded"}');
    expect(headersOf(refused)).toEqual(['0', '1;w=60', '0.1']);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(30);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit-reset')).toBe(refused.headers.get('retry-after'));
    expect(headersOf(await cheap(client))).toEqual(['0.1', '1;w=60', '0']);
    expect((await cheap(client)).status).toBe(429);
    await expect.poll(() => usageOf(client.id), { timeout: 10_000 }).toMatchObject([{ requests: 6n, ru: '1' }]);
  });

  test('it is exact for simultaneous requests', async () => {
    const client = await clientWith({ rateRu: 2, windowSeconds: 60 });
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await cheap(client)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  });

  test('it restarts after the seconds that a refusal names', async () => {
    const client = await clientWith({ rateRu: 0.5, windowSeconds: 4 });
    expect((await dear(client)).status).toBe(200);
    const refused = await dear(client);
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeLessThanOrEqual(4);
    await new Promise((resolve) => setTimeout(resolve, retryAfter * 1000));
    expect((await dear(client)).status).toBe(200);
  });

  test('it follows changes of the key’s rate', async () => {
    const client = await clientWith({ rateRu: 0.1, windowSeconds: 300 });
    expect((await cheap(client)).status).toBe(200);
    expect((await cheap(client)).status).toBe(429);
    await harness.database.pool.query('update api_keys set rate_ru = 1 where id = $1', [client.id]);
    await expect.poll(async () => (await cheap(client)).status, { timeout: 5000 }).toBe(200);
  });

  test('it ignores requests without a valid key', async () => {
    const responses = [
      await harness.api.requestWithoutKey('/v1/status'),
      await harness.api.requestWithoutKey(CHEAP),
      await harness.api.request(CHEAP, { headers: { 'x-api-key': 'wrong' } }),
      await harness.api.request('/v1/nothing'),
      await harness.api.request(CHEAP, { method: 'PUT' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 401, 401, 404, 405]);
    expect(responses.map(headersOf)).toEqual(responses.map(() => ['0', null, null]));
  });
});

describe('shared windows', () => {
  const programs: Program[] = [];
  const urls: string[] = [];
  const metricsUrls: string[] = [];

  beforeAll(async () => {
    for (let process = 0; process < 2; process += 1) {
      const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url };
      const { program, url } = await startApi(env, undefined, { RATE_LIMIT_STORE: 'postgres' });
      programs.push(program);
      urls.push(url);
      metricsUrls.push(await program.metricsUrl());
    }
  });
  afterAll(() => Promise.all(programs.map((program) => program.stop())));

  /** One key at each process. */
  async function clientsWith(limits: Limits): Promise<ApiClient[]> {
    const { key } = await createKey(harness.database.kysely, { name: 'shared', ...limits });
    return urls.map((url) => new ApiClient(url, key));
  }

  /** Summed up over the processes. */
  const metric = async (name: string, label = '') => {
    const texts = await Promise.all(metricsUrls.map(async (url) => (await fetch(url)).text()));
    const lines = texts.flatMap((text) => text.split('\n'));
    const found = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(label));
    return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const refusedFor = (reason: string) => metric('kasgres_api_refused_requests_total', `reason="${reason}"`);
  const readCounts = async () => ({
    spent: Math.round((await metric('kasgres_api_charged_request_units_total')) * 10),
    rateLimit: await refusedFor('rate_limit'),
    invalidKey: await refusedFor('invalid_key'),
    missingKey: await refusedFor('missing_key'),
  });
  const storeFailures = () => metric('kasgres_api_rate_limit_store_failures_total');

  test('have metrics of charges and refusals by reason', async () => {
    const client = (await clientsWith({ rateRu: 0.6, windowSeconds: 60 }))[1];
    if (client === undefined) throw new Error('There is no second process');
    const before = await readCounts();
    await dear(client);
    await dear(client);
    await cheap(client);
    await client.request(CHEAP, { headers: { 'x-api-key': 'wrong' } });
    await client.requestWithoutKey(CHEAP);
    await expect.poll(readCounts).toEqual({
      spent: before.spent + 6,
      rateLimit: before.rateLimit + 1,
      invalidKey: before.invalidKey + 1,
      missingKey: before.missingKey + 1,
    });
  });

  test('count the responses of every process', () =>
    whileStoreResponds(storeFailures, async () => {
      const [one, two] = (await clientsWith({ rateRu: 1, windowSeconds: 60 })) as [ApiClient, ApiClient];
      expect(headersOf(await dear(one))).toEqual(['0.5', '1;w=60', '0.5']);
      expect(headersOf(await cheap(two))).toEqual(['0.1', '1;w=60', '0.4']);
      expect(headersOf(await dear(one))).toEqual(['0', '1;w=60', '0.4']);
      expect(headersOf(await dear(two))).toEqual(['0', '1;w=60', '0.4']);
      expect(headersOf(await cheap(one))).toEqual(['0.1', '1;w=60', '0.3']);
      expect(Number((await cheap(two)).headers.get('ratelimit-reset'))).toBeGreaterThan(30);
    }));

  test('are exact for simultaneous requests', () =>
    whileStoreResponds(storeFailures, async () => {
      const clients = await clientsWith({ rateRu: 2, windowSeconds: 60 });
      const statuses = await Promise.all(
        clients.flatMap((client) => Array.from({ length: 30 }, async () => (await cheap(client)).status)),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    }));

  test('expire and restart', () =>
    whileStoreResponds(storeFailures, async () => {
      const [one, two] = (await clientsWith({ rateRu: 0.5, windowSeconds: 4 })) as [ApiClient, ApiClient];
      expect((await dear(one)).status).toBe(200);
      expect((await dear(two)).status).toBe(429);
      await new Promise((resolve) => setTimeout(resolve, 4000));
      expect((await dear(two)).status).toBe(200);
    }));

  test('refuse requests quickly while their table is locked', async () => {
    const clients = await clientsWith({ rateRu: 0.4, windowSeconds: 300 });
    for (const client of clients) expect((await cheap(client)).status).toBe(200);
    const before = await storeFailures();
    const locker = await harness.database.pool.connect();
    await locker.query('begin; lock table rate_limits in access exclusive mode');
    try {
      for (const client of [...clients, ...clients]) {
        const begun = performance.now();
        const refused = await cheap(client);
        expect(performance.now() - begun).toBeLessThan(4000);
        expect(refused.json).toEqual({ statusCode: 503, message: 'The shared rate limits are out of reach' });
        expect(refused.headers.get('retry-after')).toBe('1');
        expect(refused.headers.get('x-request-cost-ru')).toBe('0');
      }
      expect(await storeFailures()).toBeGreaterThan(before);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    // Statements that were given up charged nothing, or at most what they asked for: never less.
    const served: number[] = [];
    for (let attempt = 0; attempt < 20; attempt += 1) {
      for (const client of clients) served.push((await cheap(client)).status);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(served.filter((status) => status === 200).length).toBeLessThanOrEqual(2);
    expect(served.at(-1)).toBe(429);
  });

  test('are shared again after their table is repaired', async () => {
    const { pool } = harness.database;
    await pool.query('alter table rate_limits rename to rate_limits_away');
    const clients = await clientsWith({ rateRu: 100, windowSeconds: 300 });
    for (const client of clients) expect((await cheap(client)).status).toBe(503);
    await pool.query('alter table rate_limits_away rename to rate_limits');
    const statuses = () => Promise.all(clients.map(async (client) => (await cheap(client)).status));
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([200, 200]);
    const [one, two] = [await remaining(clients[0]), await remaining(clients[1])];
    expect(Math.round((one - two) * 10)).toBe(1);
  });
});

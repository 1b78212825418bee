/** Quotas as clients meet them: of a day and of a month, exact in one process, and soon in all. */
import { addUsage, createKey, dayOf, endOf, type QuotaPeriod } from '@kasgres/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
});
afterAll(() => harness.close());

async function clientWith(ru: number, period: QuotaPeriod): Promise<ApiClient & { id: bigint }> {
  const { id, key } = await createKey(harness.database.kysely, { name: 'quota', quota: { ru, period } });
  return Object.assign(new ApiClient(harness.api.url, key), { id });
}

const cheap = (client: ApiClient) => client.request('/v1/rpc/getCurrentNetwork');
const dear = (client: ApiClient) => client.request('/v1/rpc/getBlocks', { body: {} });

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => dayOf(new Date(Date.now() - days * DAY_MS));

test.each(['day', 'month'] as const)('it enforces a quota of a %s exactly', async (period) => {
  const client = await clientWith(1, period);
  expect((await dear(client)).status).toBe(200);
  for (let request = 0; request < 4; request += 1) expect((await cheap(client)).status).toBe(200);
  const secondsLeft = Math.ceil((endOf(period, new Date()).getTime() - Date.now()) / 1000);
  const refused = await dear(client);
  expect(refused.status).toBe(429);
  expect(refused.text).toBe('{"statusCode":429,"message":"Rate limit exceeded"}');
  expect(refused.headers.get('x-request-cost-ru')).toBe('0');
  expect(refused.headers.get('ratelimit-limit')).toBe('100;w=1');
  expect(refused.headers.get('ratelimit-remaining')).toBe('0');
  expect(Math.abs(Number(refused.headers.get('retry-after')) - secondsLeft)).toBeLessThanOrEqual(2);
  expect(refused.headers.get('ratelimit-reset')).toBe(refused.headers.get('retry-after'));
  // Refused requests spent nothing.
  expect((await cheap(client)).status).toBe(200);
  expect((await cheap(client)).status).toBe(429);
});

test.each(['memory', 'postgres'])(
  'it enforces a quota exactly for 400 requests at once, with rate limits in %s',
  async (store) => {
    const { program, url } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url },
      undefined,
      { RATE_LIMIT_STORE: store },
    );
    const { id, key } = await createKey(harness.database.kysely, {
      name: 'quota',
      quota: { ru: 5, period: 'day' },
      concurrency: 1000,
    });
    const client = new ApiClient(url, key);
    const responses = await Promise.all(Array.from({ length: 400 }, () => cheap(client)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(350);
    await program.stop();
    const usage = await harness.database.kysely
      .selectFrom('api_key_usage')
      .selectAll()
      .where('api_key_id', '=', id)
      .execute();
    expect(usage).toMatchObject([{ requests: 50n, ru: '5' }]);
  },
);

test('it refunds the quota if a rate limit refuses the request', async () => {
  const { key } = await createKey(harness.database.kysely, {
    name: 'quota',
    rateRu: 0.5,
    windowSeconds: 2,
    quota: { ru: 1, period: 'day' },
  });
  const client = new ApiClient(harness.api.url, key);
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await cheap(client)).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  expect((await dear(client)).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  const refused = await cheap(client);
  expect([refused.status, Number(refused.headers.get('retry-after')) > 2]).toEqual([429, true]);
});

test('it enforces a quota exactly while usage is being written', async () => {
  const client = await clientWith(30, 'day');
  let served = 0;
  const giveUpAt = Date.now() + 30_000;
  while (served < 300 && Date.now() < giveUpAt) {
    expect((await cheap(client)).status).toBe(200);
    served += 1;
    // Longer than it takes until use is written, and until the key is looked up again.
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  expect(served).toBe(300);
  for (let request = 0; request < 10; request += 1) expect((await cheap(client)).status).toBe(429);
});

test('it counts requests of other processes within seconds', async () => {
  const client = await clientWith(1, 'month');
  const { program, url } = await startApi({
    nodeUrl: harness.simulatedDag.server.url,
    databaseUrl: harness.database.url,
  });
  const elsewhere = new ApiClient(url, client.key);
  for (let request = 0; request < 2; request += 1) expect((await dear(elsewhere)).status).toBe(200);
  // The requests that are served here until then would not exhaust it.
  await expect.poll(async () => (await cheap(client)).status, { timeout: 9000, interval: 1000 }).toBe(429);
  await program.stop();
});

test('it ignores usage of other periods', async () => {
  const client = await clientWith(1, 'day');
  await addUsage(harness.database.kysely, [
    { apiKeyId: client.id, day: daysAgo(1), requests: 100, ru: 100 },
    { apiKeyId: client.id, day: daysAgo(40), requests: 100, ru: 100 },
  ]);
  expect((await dear(client)).status).toBe(200);
});

test('it applies a larger quota within seconds', async () => {
  const client = await clientWith(0.1, 'day');
  await cheap(client);
  expect((await cheap(client)).status).toBe(429);
  await harness.database.pool.query('update api_keys set quota_ru = 100 where id = $1', [client.id]);
  await expect.poll(async () => (await cheap(client)).status, { timeout: 4000 }).toBe(200);
});

/** Requests without a key, where the operator allows them: limited by client address. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, openHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 20, variables: { ANONYMOUS_RATE_RU: '1', TRUST_PROXY: 'loopback' } });
  await harness.atRest();
});
afterAll(() => harness.close());

const ask = (path: string, from: string, init: RequestInit = {}) =>
  fetch(`${harness.api.url}${path}`, {
    ...init,
    headers: { 'x-forwarded-for': from, ...(init.headers as Record<string, string>) },
  });

/** Sends requests of 0.1 RU at once, and returns how many were served. */
async function served(requests: readonly string[]): Promise<number> {
  const responses = await Promise.all(requests.map((from) => ask('/v1/rpc/getSink', from)));
  for (const { status } of responses) expect([200, 429]).toContain(status);
  return responses.filter(({ status }) => status === 200).length;
}

test('requests without a key are served and charged to their address', async () => {
  const response = await ask('/v1/network', '192.0.2.1');
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-request-cost-ru': '0.1',
    'ratelimit-limit': '1;w=1',
    'ratelimit-remaining': '0.9',
  });
  expect((await ask('/rest/info/coinsupply', '192.0.2.1')).status).toBe(200);
});

const repeat = (from: string): string[] => Array.from({ length: 30 }, () => from);

test('each address has its limit, and so has each /64 of IPv6', async () => {
  expect(await served(repeat('198.51.100.1'))).toBeLessThanOrEqual(20);
  expect(await served(Array.from({ length: 30 }, (_, i) => `198.51.100.${i + 10}`))).toBe(30);
  expect(await served(Array.from({ length: 30 }, (_, i) => `2001:db8:1:1::${i + 1}`))).toBeLessThanOrEqual(20);
  expect(await served(Array.from({ length: 30 }, (_, i) => `2001:db8:2:${i + 1}::1`))).toBe(30);
});

test('neither ports nor text that is not an address make another client', async () => {
  expect(await served(Array.from({ length: 30 }, (_, i) => `198.51.100.2:${i + 1}`))).toBeLessThanOrEqual(20);
  expect(await served(Array.from({ length: 30 }, (_, i) => `[2001:db8:3::1]:${i + 1}`))).toBeLessThanOrEqual(20);
  // The proxy's own limit.
  expect(await served(Array.from({ length: 30 }, (_, i) => `garbage${i}`))).toBeLessThanOrEqual(20);
  const forwarded = Array.from({ length: 30 }, async (_, i) => {
    const headers = { forwarded: `for=198.51.100.${i}` };
    return (await ask('/v1/rpc/getSink', '198.51.100.3', { headers })).status;
  });
  expect((await Promise.all(forwarded)).filter((status) => status === 200).length).toBeLessThanOrEqual(20);
});

test('submissions and tokens need a key, and a wrong key is refused', async () => {
  const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  for (const path of ['/v1/rpc/submitTransaction', '/v1/rpc/submitBlock', '/v1/stream/tokens']) {
    const response = await ask(path, '203.0.113.5', post);
    expect({ path, status: response.status }).toEqual({ path, status: 401 });
  }
  const wrong = await ask('/v1/rpc/getSink', '203.0.113.6', { headers: { 'x-api-key': `kdp_${'0'.repeat(64)}` } });
  expect(await wrong.json()).toEqual({ statusCode: 401, message: 'Invalid API key' });
});

test('streams are served, and usage is written for no key', async () => {
  const controller = new AbortController();
  const response = await ask('/v1/stream', '203.0.113.7', { signal: controller.signal });
  expect(response.status).toBe(200);
  controller.abort();
  const { rows } = await harness.database.pool.query(
    'select from api_key_usage where requests < 0 or api_key_id is null',
  );
  expect(rows).toEqual([]);
});

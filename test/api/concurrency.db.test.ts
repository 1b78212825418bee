/** How many requests of a key may be in flight, against the real process. */
import { createKey } from '@kasgres/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { openHarness, type Harness } from './harness.ts';
import { countWaiting, whileNothingIsRead } from './locked-index.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness({ rounds: 20 });
});
afterAll(() => harness.close());

const BLOCKS = '/v1/blocks?limit=1';

async function clientWith(concurrency: number): Promise<ApiClient> {
  const { key } = await createKey(harness.database.kysely, { name: 'limited', concurrency });
  const client = new ApiClient(harness.api.url, key);
  expect((await client.request(BLOCKS)).status).toBe(200);
  return client;
}

test('it refuses requests beyond the concurrency limit at once, and serves those in flight', async () => {
  const client = await clientWith(5);
  await whileNothingIsRead(harness, async (release) => {
    const responses: ApiResponse[] = [];
    const all = Array.from({ length: 40 }, async () => responses.push(await client.request(BLOCKS)));
    // The refusals come while nothing can be served.
    await expect.poll(() => responses.length).toBe(35);
    for (const { status, text, headers } of responses) {
      expect(status).toBe(429);
      expect(text).toBe('{"statusCode":429,"message":"Rate limit exceeded"}');
      expect(headers.get('retry-after')).toBe('1');
      expect(headers.get('x-request-cost-ru')).toBe('0');
    }
    await release();
    await Promise.all(all);
    expect(responses.slice(35).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
  expect((await client.request(BLOCKS)).status).toBe(200);
});

test('it counts a request whose client disconnected until its query ends', async () => {
  const client = await clientWith(1);
  await whileNothingIsRead(harness, async (release) => {
    const leave = new AbortController();
    const headers = { 'x-api-key': client.key };
    const left = fetch(`${client.url}${BLOCKS}`, { headers, signal: leave.signal }).catch(() => 'left');
    await expect.poll(() => countWaiting(harness)).toBe(1);
    leave.abort();
    expect(await left).toBe('left');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await client.request(BLOCKS)).status).toBe(429);
    await release();
    await expect.poll(async () => (await client.request(BLOCKS)).status).toBe(200);
  });
});

test('it releases a request that breaks off in its body or is refused', async () => {
  const client = await clientWith(1);
  /** Returns the status of another request during one that then breaks off. */
  const breakOff = async (): Promise<number> => {
    const leave = new AbortController();
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{"lowHash":')) });
    const broken = fetch(`${client.url}/v1/rpc/getBlocks`, {
      method: 'POST',
      headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
      body,
      duplex: 'half',
      signal: leave.signal,
    }).catch(() => 'left');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { status } = await client.request(BLOCKS);
    leave.abort();
    await broken;
    return status;
  };
  for (let time = 0; time < 3; time += 1) {
    // On a busy machine the other request may come first.
    await expect.poll(breakOff).toBe(429);
    await expect.poll(async () => (await client.request('/v1/rpc/getBlocks', { body: '{' })).status).toBe(400);
  }
  expect((await client.request(BLOCKS)).status).toBe(200);
});

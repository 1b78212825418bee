/** The streams of one client leave the others their share. */
import { randomBytes } from 'node:crypto';
import { createKey } from '@kasgres/database';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { EventStream, openWebSocket } from '../support/streams.ts';
import { type Harness, openHarness } from './harness.ts';

const STREAMS = 20;
let harness: Harness;
let end = new AbortController();

beforeAll(async () => {
  const variables = { STREAM_CONNECTIONS: String(STREAMS), ANONYMOUS_RATE_RU: '100', TRUST_PROXY: 'loopback' };
  harness = await openHarness({ rounds: 60, seed: 'shares of streams', variables });
  await harness.atRest();
});
afterEach(async () => {
  end.abort();
  end = new AbortController();
  // The slots are free again.
  await expect.poll(async () => (await open(await newKey())).status, { timeout: 10_000 }).toBe(200);
  end.abort();
  end = new AbortController();
});
afterAll(() => harness.close());

const newKey = async (rateRu = 1000) => (await createKey(harness.database.kysely, { name: 'one', rateRu })).key;

const open = (key: string | undefined, query = '', from = '192.0.2.1') =>
  fetch(`${harness.api.url}/v1/stream?${query}`, {
    headers: key === undefined ? { 'x-forwarded-for': from } : { 'x-api-key': key },
    signal: end.signal,
  });

const openMany = async (count: number, ...given: Parameters<typeof open>) => {
  const statuses: number[] = [];
  for (let opened = 0; opened < count; opened += 1) statuses.push((await open(...given)).status);
  return statuses.filter((status) => status === 200).length;
};

const sinkOf = async () => (await harness.api.get('/v1/rpc/getSink')).json['sink'] as string;

test('clients without a key leave slots to keys, and a key with many streams leaves slots to others', async () => {
  expect(await openMany(STREAMS, undefined)).toBe(STREAMS / 2);
  const [first, second] = [await newKey(), await newKey()];
  expect(await openMany(STREAMS / 2, first)).toBe(STREAMS / 2);
  expect(await openMany(3, second)).toBe(3);
}, 60_000);

test('an EventSource that cannot set headers continues with lastEventId in the URL', async () => {
  const key = await newKey();
  const from = await sinkOf();
  harness.simulatedDag.mine(3);
  await harness.atRest();
  const stream = new EventStream(await open(key, `events=chain&lastEventId=${from}`));
  const text = await stream.until(/event: chain/);
  expect(text).toContain(`event: heartbeat\nid: ${from}`);
  expect((await open(key, 'lastEventId=')).status).toBe(200);
  const refused = await open(key, 'lastEventId=abc');
  expect([refused.status, await refused.json()]).toMatchObject([400, { details: [{ path: 'lastEventId' }] }]);
}, 60_000);

const tokenOf = (id: bigint) => `kst_${id}_${Date.now() + 60_000}_${randomBytes(32).toString('base64url')}`;

test('a flood of tokens of unknown keys does not lock out keys that are not cached', async () => {
  const over = new AbortController();
  const flood = Array.from({ length: 100 }, async () => {
    while (!over.signal.aborted) {
      const id = randomBytes(8).readBigUInt64BE() >> 1n;
      const { status } = await fetch(`${harness.api.url}/v1/stream?token=${tokenOf(id)}`);
      expect(status).toBe(401);
    }
  });
  for (let count = 0; count < 6; count += 1) {
    const { status } = await fetch(`${harness.api.url}/v1/rpc/getSink`, { headers: { 'x-api-key': await newKey() } });
    expect(status).toBe(200);
  }
  over.abort();
  await Promise.all(flood);
  for (const id of [2n ** 63n, 9_999_999_999_999_999_999n]) {
    const response = await fetch(`${harness.api.url}/v1/stream?token=${tokenOf(id)}`);
    expect([response.status, await response.json()]).toMatchObject([401, { message: 'Invalid API key' }]);
  }
}, 60_000);

test('commands of a WebSocket are charged by their addresses', async () => {
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id limit 100',
  );
  const addresses = rows.map(({ address }) => address);
  const { socket, messages } = await openWebSocket(harness.api.url, { 'x-api-key': await newKey(2) });
  const responses = () =>
    messages.flatMap(({ event, data }) => (['subscribed', 'error'].includes(event) ? [data] : []));
  // Half a unit for the connection, and 0.5 for each command.
  for (let id = 0; id < 5; id += 1) socket.send(JSON.stringify({ id, subscribe: { addresses } }));
  await expect.poll(() => responses().length, { timeout: 20_000 }).toBe(5);
  expect(responses().some(({ statusCode }) => statusCode === 429)).toBe(true);
  expect(responses()[0]).toMatchObject({ id: 0, addresses: addresses.length });
  socket.terminate();
}, 60_000);

test('a number of confirmations that is not among the shared ones is confirmed, too', async () => {
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from balances join scripts on id = script_id where address is not null order by transaction_count desc limit 20',
  );
  const query = rows.map(({ address }) => `address=${address}`).join('&');
  const others = await newKey();
  for (const number of [1, 2, 3, 4]) await open(others, `${query}&confirmations=${number}`);
  const response = await open(await newKey(), `${query}&confirmations=9`);
  const confirmed = new EventStream(response).until(/"status":"confirmed"[^\n]*/);
  const mining = setInterval(() => harness.simulatedDag.mine(1), 100);
  try {
    const text = await confirmed;
    const [, score = '', confirmations = ''] =
      /"status":"confirmed".*?"acceptingBlockBlueScore":"(\d+)","confirmations":(\d+)/.exec(text) ?? [];
    expect(Number(score)).toBeGreaterThan(0);
    expect(Number(confirmations)).toBeGreaterThanOrEqual(9);
  } finally {
    clearInterval(mining);
  }
}, 90_000);

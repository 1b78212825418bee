/**
 * One client floods the API with a thousand outstanding requests, without a key or within its own
 * limits; another one is served as if it were not there. The API and the flood are separate
 * processes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createKey } from '@kasgres/database';
import { scriptToAddress } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Flood, FloodRequest } from './flood-client.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';
import { submittedBlock, submittedTransaction, withLargestSequences } from './submitted-block.ts';

const SINK = '/v1/rpc/getSink';
const OUTSTANDING = 1000;
const FLOOD_MS = 6000;

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness({ rounds: 120 });
});
afterAll(() => harness.close());

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function runFlood(requests: FloodRequest[], outstanding = OUTSTANDING): Promise<Record<string, number>> {
  const program = fileURLToPath(new URL('flood-client.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const flood: Flood = { url: harness.api.url, requests, outstanding, durationMs: FLOOD_MS };
  child.stdin.end(JSON.stringify(flood));
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(output) as Record<string, number>;
}

interface Sample {
  statuses: Set<number>;
  p99: number;
  count: number;
}

/** Requests at a steady pace, whether or not the one before was served. */
async function sample(
  client: ApiClient,
  { everyMs, durationMs, path = SINK, body }: { everyMs: number; durationMs: number; path?: string; body?: object },
): Promise<Sample> {
  const times: number[] = [];
  const statuses = new Set<number>();
  const requests: Promise<void>[] = [];
  const ask = async (): Promise<void> => {
    const begun = performance.now();
    const { status } = await client.request(path, body === undefined ? {} : { body });
    statuses.add(status);
    times.push(performance.now() - begun);
  };
  const endAt = performance.now() + durationMs;
  while (performance.now() < endAt) {
    requests.push(ask());
    await sleep(everyMs);
  }
  await Promise.all(requests);
  times.sort((a, b) => a - b);
  return { statuses, p99: times[Math.ceil(times.length * 0.99) - 1] ?? 0, count: times.length };
}

async function newClient(limits: { rateRu?: number; concurrency?: number } = {}): Promise<ApiClient> {
  const { key } = await createKey(harness.database.kysely, { name: 'client', ...limits });
  return new ApiClient(harness.api.url, key);
}

const addresses = Array.from({ length: 1000 }, (_, number) => {
  const script = Buffer.alloc(34, number % 251);
  script.writeUInt32BE(number + 1, 2);
  script[0] = 0x20;
  script[33] = 0xac;
  return scriptToAddress({ version: 0, script }, 'kaspasim') ?? '';
});

const ids = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(64, '0'));
const scores = Array.from({ length: 1000 }, (_, number) => String(number * 100));

const post = (path: string, body: object): FloodRequest => ({ path, method: 'POST', body: JSON.stringify(body) });

// Times on a machine that is busy with much else say little: what is late is measured again.
describe('a flood without a valid key', () => {
  let client: ApiClient;
  let quiet: Sample;
  beforeAll(async () => {
    client = await newClient();
    await sample(client, { everyMs: 25, durationMs: 500 });
    quiet = await sample(client, { everyMs: 25, durationMs: 2000 });
  });
  test.each<[string, FloodRequest]>([
    ['requests without a key', { path: SINK }],
    ['keys that nobody has', { path: SINK, withUnknownKey: true }],
    ['keys that are none', { path: SINK, headers: { 'x-api-key': 'wrong' } }],
    ['the status', { path: '/v1/status' }],
    ['paths that do not exist', { path: '/v1/nothing' }],
  ])('leaves the paying client its responses: %s', { timeout: 60_000, retry: 2 }, async (_, request) => {
    const flood = runFlood([request]);
    await sleep(1500);
    const loud = await sample(client, { everyMs: 25, durationMs: FLOOD_MS - 3000 });
    const counts = await flood;
    expect([...loud.statuses]).toEqual([200]);
    expect(loud.p99).toBeLessThan(Math.max(150, 5 * quiet.p99));
    expect(Object.keys(counts)).toEqual([
      request.path === '/v1/status' ? '200' : request.path === SINK ? '401' : '404',
    ]);
    // It was a flood.
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(OUTSTANDING * 2);
    expect(harness.program.isRunning()).toBe(true);
  });
});

describe('a flood with one key, within its limits', () => {
  test('it leaves the response times of another key unchanged', { timeout: 60_000, retry: 2 }, async () => {
    const greedy = await newClient({ rateRu: 1e6 });
    const modest = await newClient();
    const { json: first } = await greedy.request('/v1/rpc/getBlocks', { body: {} });
    const [genesis] = first['blockHashes'] as string[];
    const { json: block } = await greedy.request('/v1/rpc/getBlocks', {
      body: { includeBlocks: true, includeTransactions: true },
    });
    const known = (block['blocks'] as { transactions: { verboseData: { transactionId: string } }[] }[])
      .flatMap(({ transactions }) => transactions.map(({ verboseData }) => verboseData.transactionId))
      .slice(0, 300);
    const requests = [
      post('/v1/rpc/getUtxosByAddresses', { addresses }),
      post('/v1/rpc/getBalancesByAddresses', { addresses }),
      post('/v1/rpc/getBlocks', { includeBlocks: true, includeTransactions: true }),
      post('/v1/rpc/getVirtualChainFromBlock', { startHash: genesis, includeAcceptedTransactionIds: true }),
      post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: scores }),
      post('/v1/transactions', { transactionIds: [...known, ...ids].slice(0, 500) }),
      post('/v1/transactions/acceptance', { transactionIds: ids }),
      { path: '/v1/rpc/estimateNetworkHashesPerSecond?windowSize=10000' },
    ].map((request) => ({ ...request, headers: { 'x-api-key': greedy.key } }));
    const quiet = await sample(modest, { everyMs: 200, durationMs: 3000 });
    const flood = runFlood(requests);
    await sleep(1500);
    const { statuses, p99, count } = await sample(modest, { everyMs: 200, durationMs: FLOOD_MS - 3000 });
    const counts = await flood;
    expect(count).toBeGreaterThan(10);
    expect([...statuses]).toEqual([200]);
    expect(p99).toBeLessThanOrEqual(Math.max(500, 5 * quiet.p99));
    // The greedy one is served as well, as much as there is room for.
    expect(counts['200']).toBeGreaterThan(10);
    expect(counts['429']).toBeGreaterThan(500);
    expect(harness.program.isRunning()).toBe(true);
  });
});

describe('large request bodies with one key, within its limits', () => {
  const BYTES = 650_000;
  /** As many as a key may have in flight by default. */
  const BODIES = 128;

  const fill = (partOf: (index: number) => string): string => {
    const parts: string[] = [];
    for (let length = 0; length < BYTES; length += (parts.at(-1) as string).length + 1)
      parts.push(partOf(parts.length));
    return parts.join();
  };
  /** As much work as a body can be: all of it is right, and the node refuses it. */
  const block = withLargestSequences(
    submittedBlock(
      Array.from({ length: 1400 }, (_, index) => ({ ...submittedTransaction(1, 1), lockTime: index, mass: '1' })),
    ),
  );
  const names = `{${fill((index) => `"a${index}":0`)}}`;
  const bodies: Record<string, FloodRequest[]> = {
    'fields that are all different': ['/v1/rpc/submitTransaction', '/v1/transactions', '/v1/rpc/getBlocks'].map(
      (path) => ({ path, body: names }),
    ),
    'blocks that are right': [{ path: '/v1/rpc/submitBlock', body: block }],
  };

  test.each(Object.entries(bodies))(
    'do not delay responses to another key: %s',
    { timeout: 60_000, retry: 2 },
    async (_, each) => {
      const greedy = await newClient({ rateRu: 1e6 });
      const modest = await newClient();
      const paces = [{ path: '/v1/transactions', body: { transactionIds: ids } }, {}].map((request) => ({
        ...request,
        everyMs: 200,
      }));
      const samples = (durationMs: number) => Promise.all(paces.map((pace) => sample(modest, { ...pace, durationMs })));
      const quiet = await samples(2000);
      const headers = { 'x-api-key': greedy.key, 'content-type': 'application/json' };
      const flood = runFlood(
        each.map((request) => ({ ...request, method: 'POST', headers })),
        BODIES,
      );
      await sleep(1500);
      const loud = await samples(FLOOD_MS - 3000);
      const counts = await flood;
      for (const [index, { statuses, p99, count }] of loud.entries()) {
        expect(count).toBeGreaterThan(10);
        expect([...statuses]).toEqual([200]);
        expect(p99).toBeLessThanOrEqual(Math.max(500, 5 * (quiet[index] as Sample).p99));
      }
      // The greedy one is served as well, as much as there is room for: a body that has waited for
      // 15 s is a 503.
      expect(['400', '503']).toEqual(expect.arrayContaining(Object.keys(counts)));
      expect(counts['400']).toBeGreaterThan(10);
      expect(harness.program.isRunning()).toBe(true);
    },
  );
});

test('it serves node calls of one key while another lists a large mempool', {
  timeout: 60_000,
  retry: 2,
}, async () => {
  const greedy = await newClient({ rateRu: 1e6 });
  const modest = await newClient();
  const { node } = harness.simulatedDag;
  harness.simulatedDag.pay(8);
  const [one] = node.mempoolEntries({ includeOrphanPool: false, filterTransactionPool: false });
  if (one === undefined) throw new Error('the mempool is empty');
  // Five megabytes of long scripts: this process is the node too, and many small transactions would
  // take it as long as the API.
  const inputs = one.transaction.inputs.map((input) => ({ ...input, signatureScript: Buffer.alloc(5000) }));
  const entry = { ...one, transaction: { ...one.transaction, inputs: inputs.slice(0, 1) } };
  const large = vi.spyOn(node, 'mempoolEntries').mockReturnValue(Array.from({ length: 500 }, () => entry));
  try {
    const pace = { path: '/v1/rpc/getFeeEstimate', everyMs: 200 };
    const quiet = await sample(modest, { ...pace, durationMs: 2000 });
    const flood = runFlood([{ path: '/v1/rpc/getMempoolEntries', headers: { 'x-api-key': greedy.key } }], 100);
    await sleep(1500);
    const { statuses, p99, count } = await sample(modest, { ...pace, durationMs: FLOOD_MS - 3000 });
    const counts = await flood;
    expect(count).toBeGreaterThan(10);
    expect([...statuses]).toEqual([200]);
    expect(p99).toBeLessThanOrEqual(Math.max(500, 5 * quiet.p99));
    expect(counts['200']).toBeGreaterThan(10);
    expect(harness.program.isRunning()).toBe(true);
  } finally {
    large.mockRestore();
  }
});

test('it drops clients without a key that do not read their 401, and cuts off excess connections', {
  timeout: 60_000,
}, async () => {
  const CONNECTIONS = 4000;
  const { hostname, port } = new URL(harness.api.url);
  const open = () => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    socket.on('data', (data) => (received += data.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(`GET ${SINK} HTTP/1.1\r\nhost: x\r\n\r\n`);
    const closed = once(socket, 'close').then(() => received);
    return { socket, closed };
  };
  // Those that leave make room: were they held for five seconds, the ones after them would be cut
  // off.
  for (let wave = 0; wave < 3; wave += 1) {
    const leaving = Array.from({ length: 1500 }, open);
    await sleep(1000);
    for (const { socket } of leaving) socket.destroy();
  }
  const staying = Array.from({ length: 1000 }, open);
  await sleep(6000);
  for (const { socket } of staying) socket.destroy();
  const texts = await Promise.all(staying.map(({ closed }) => closed));
  expect(texts.filter((text) => text.startsWith('HTTP/1.1 401'))).toHaveLength(1000);

  const all = Array.from({ length: CONNECTIONS }, open);
  await sleep(6000);
  for (const { socket } of all) socket.destroy();
  const served = (await Promise.all(all.map(({ closed }) => closed))).filter((text) => text !== '').length;
  expect(served).toBeGreaterThan(500);
  expect(served).toBeLessThan(CONNECTIONS);
  expect((await harness.api.request(SINK)).status).toBe(200);
  expect(harness.program.isRunning()).toBe(true);
});

/**
 * Several workers at one port: rates and metrics as of one process, quotas and usage soon, requests
 * in flight of each, and the ends of processes.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { createKey, type NewKey } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { type Program, startApi, startApiProgram } from '../support/programs.ts';
import { openHarness, type Harness } from './harness.ts';
import { whileStoreResponds } from './while-store-responds.ts';

const WORKERS = 2;
const NETWORK = '/v1/rpc/getCurrentNetwork';
const BLOCKS = '/v1/blocks?limit=1';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60, variables: { API_WORKERS: String(WORKERS), ANONYMOUS_RATE_RU: '1' } });
  await bothServe(harness.program, harness.api.url);
});
afterAll(() => harness.close());

const started: Program[] = [];
afterEach(() => Promise.all(started.splice(0).map((program) => program.kill())));

const env = () => ({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url });

async function startAnother(more: Record<string, string> = {}): Promise<{ program: Program; url: string }> {
  const another = await startApi(env(), undefined, { API_WORKERS: String(WORKERS), ...more });
  started.push(another.program);
  await bothServe(another.program, another.url);
  return another;
}

/** Returns the process ids of the workers. */
function workersOf({ processId }: Program): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([parent, id]) => (parent === processId && id !== undefined ? [id] : []));
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

/** Returns which workers have served the requests with an id, as the log says. */
function workersThatServed(program: Program, requestId: string): Set<string | undefined> {
  const lines = program.output().split('\n');
  return new Set(lines.filter((line) => line.includes(requestId)).map((line) => /"worker":(\d+)/.exec(line)?.[1]));
}

/** Waits until connections are served by all workers. */
async function bothServe(program: Program, url: string): Promise<void> {
  const findWorkers = async (): Promise<number> => {
    const requestId = randomUUID();
    const headers = { 'x-request-id': requestId, connection: 'close' };
    await Promise.allSettled(Array.from({ length: 6 }, () => fetch(`${url}/v1/status`, { headers })));
    return workersThatServed(program, requestId).size;
  };
  await vi.waitFor(async () => expect(await findWorkers()).toBe(WORKERS), { timeout: 30_000, interval: 200 });
}

async function clientWith(limits: Omit<NewKey, 'name'>, url = harness.api.url): Promise<ApiClient & { id: bigint }> {
  const { id, key } = await createKey(harness.database.kysely, { name: 'shared', ...limits });
  return Object.assign(new ApiClient(url, key), { id });
}

const cheap = async (client: ApiClient) => (await client.request(NETWORK)).status;

/** The workers take new connections in turn. Those that are open may all be of one worker. */
async function statusOfNewConnection({ url, key }: ApiClient, path: string): Promise<number> {
  const sending = get(`${url}${path}`, { agent: false, headers: { 'x-api-key': key } });
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

/** Sends requests at once, over open connections if there are any. */
const atOnce = (client: ApiClient, count: number, headers: Record<string, string> = {}) =>
  Promise.all(Array.from({ length: count }, () => client.request(NETWORK, { headers })));

const countOf = (statuses: readonly { status: number }[], wanted: number) =>
  statuses.filter(({ status }) => status === wanted).length;

const usageOf = (id: bigint) =>
  harness.database.kysely.selectFrom('api_key_usage').selectAll().where('api_key_id', '=', id).execute();

const sumOf = async (name: string, label = ''): Promise<number> => {
  const lines = (await (await fetch(await harness.program.metricsUrl())).text()).split('\n');
  const found = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(label));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

/** Nothing of the index is served meanwhile. */
async function whileNothingIsRead(work: (release: () => Promise<void>) => Promise<void>): Promise<void> {
  const locker: PoolClient = await harness.database.pool.connect();
  await locker.query('begin; lock table checkpoint in access exclusive mode');
  const release = async (): Promise<void> => {
    await locker.query('rollback');
  };
  try {
    await work(release);
  } finally {
    await release();
    locker.release();
  }
}

const storeFailures = () => sumOf('kasgres_api_rate_limit_store_failures_total');

test('a rate is that of all workers together, and exact', () =>
  whileStoreResponds(storeFailures, async () => {
    const client = await clientWith({ rateRu: 2, windowSeconds: 60 });
    const requestId = randomUUID();
    const responses = await atOnce(client, 60, { 'x-request-id': requestId });
    expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([20, 40]);
    const left = responses
      .filter(({ status }) => status === 200)
      .map(({ headers }) => headers.get('ratelimit-remaining'));
    expect(new Set(left).size).toBe(20);
    await expect.poll(() => workersThatServed(harness.program, requestId).size).toBe(WORKERS);
  }));

test('a connection to one worker gets the whole rate of its key', () =>
  whileStoreResponds(storeFailures, async () => {
    const client = await clientWith({ rateRu: 2, windowSeconds: 60 });
    const requestId = randomUUID();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'x-api-key': client.key, 'x-request-id': requestId };
    const served: (number | undefined)[] = [];
    for (let request = 0; request < 21; request += 1) {
      const [response] = (await once(get(`${client.url}${NETWORK}`, { agent, headers }), 'response')) as [
        IncomingMessage,
      ];
      served.push(response.statusCode);
      await text(response);
    }
    agent.destroy();
    expect(served).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    await expect.poll(() => workersThatServed(harness.program, requestId).size).toBe(1);
  }));

test('the rate of an address without a key is that of all workers together', () =>
  whileStoreResponds(storeFailures, async () => {
    const beganAt = performance.now();
    const responses = await Promise.all(Array.from({ length: 60 }, () => harness.api.requestWithoutKey(NETWORK)));
    const windows = Math.floor((performance.now() - beganAt) / 1000) + 1;
    expect(countOf(responses, 200)).toBeGreaterThan(0);
    expect(countOf(responses, 200)).toBeLessThanOrEqual(10 * windows);
    expect(countOf(responses, 200) + countOf(responses, 429)).toBe(60);
  }));

test('the items of a request are charged, and refunded if they are refused', async () => {
  const client = await clientWith({ rateRu: 2.2, windowSeconds: 60 });
  const ask = (count: number) =>
    client.request('/v1/transactions', {
      body: { transactionIds: Array.from({ length: count }, (_, index) => index.toString(16).padStart(64, '0')) },
    });
  const cost = Number((await ask(1)).headers.get('x-request-cost-ru'));
  expect(Number((await ask(60)).headers.get('x-request-cost-ru'))).toBeCloseTo(3 * cost);
  const before = Number((await ask(1)).headers.get('ratelimit-remaining'));
  let refused = await ask(100);
  let spent = 2.2 - before;
  while (refused.status === 200) {
    spent += 5 * cost;
    refused = await ask(100);
  }
  expect(refused.status).toBe(429);
  // The worker refunds the first charge right after the refusal, which the other one may be asked
  // before.
  const chargedRu = async (): Promise<number> => {
    const windows = harness.database.kysely.selectFrom('rate_limits').select('points');
    const { points } = await windows.where('key', '=', `key:${client.id}`).executeTakeFirstOrThrow();
    return Number(points) / 100;
  };
  await expect.poll(chargedRu).toBeCloseTo(spent);
});

test('a quota is exact in each worker and soon that of all together, and usage is counted once', async () => {
  const client = await clientWith({ quota: { ru: 5, period: 'day' }, concurrency: 1000, rateRu: 1000 });
  const responses = await atOnce(client, 200);
  const served = countOf(responses, 200);
  expect(served + countOf(responses, 429)).toBe(200);
  expect(served).toBeGreaterThanOrEqual(50);
  expect(served).toBeLessThanOrEqual(50 * WORKERS);
  const usage = async () => (await usageOf(client.id)).map(({ requests, ru }) => [Number(requests), Number(ru)]);
  await expect.poll(usage, { timeout: 15_000 }).toEqual([[served, served / 10]]);
  expect(countOf(await atOnce(client, 20), 429)).toBe(20);
});

test('a worker refuses what another one has spent of a quota within seven seconds', async () => {
  const client = await clientWith({ quota: { ru: 6, period: 'day' }, concurrency: 1000, rateRu: 1000 });
  // Each worker has the key in memory, with about 20 requests of the 60 that it would admit.
  expect(countOf(await atOnce(client, 40), 200)).toBe(40);
  await new Promise((resolve) => setTimeout(resolve, 7000));
  const more = countOf(await atOnce(client, 100), 200);
  expect(more).toBeGreaterThanOrEqual(20);
  expect(more).toBeLessThanOrEqual(20 * WORKERS);
});

test('requests in flight are those of each worker', async () => {
  const client = await clientWith({ concurrency: 5 });
  const before = await sumOf('kasgres_api_refused_requests_total', 'concurrency');
  const [admitted, refused] = [5 * WORKERS, 40 - 5 * WORKERS];
  await whileNothingIsRead(async (release) => {
    const all = Array.from({ length: 40 }, () => statusOfNewConnection(client, BLOCKS));
    await expect.poll(() => sumOf('kasgres_api_refused_requests_total', 'concurrency')).toBe(before + refused);
    await release();
    const responses = (await Promise.all(all)).map((status) => ({ status }));
    expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([admitted, refused]);
  });
  await expect.poll(() => cheap(client)).toBe(200);
});

test('invalid and revoked keys are refused by every worker', async () => {
  const client = await clientWith({});
  expect(countOf(await atOnce(client, 8), 200)).toBe(8);
  await harness.database.pool.query('update api_keys set revoked_at = now() where id = $1', [client.id]);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(countOf(await atOnce(client, 8), 401)).toBe(8);
  expect(await cheap(new ApiClient(harness.api.url, `kdp_${'0'.repeat(64)}`))).toBe(401);
  expect(await cheap(new ApiClient(harness.api.url, 'wrong'))).toBe(401);
});

test('metrics are sums that never fall, also when a worker is killed, which is restarted', async () => {
  const client = await clientWith({ concurrency: 8, rateRu: 1000 });
  const served = () => sumOf('kasgres_api_request_seconds_count', `route="${NETWORK}"`);
  const before = await served();
  for (let round = 0; round < 5; round += 1) await atOnce(client, 8);
  await expect.poll(served).toBe(before + 40);
  expect(await sumOf('kasgres_api_node_connected')).toBe(1);

  const victim = await killWorker();
  expect(await served()).toBeGreaterThanOrEqual(before + 40);
  expect(harness.program.output()).toContain('worker ended, restarting it');
  await bothServe(harness.program, harness.api.url);
  expect(workersOf(harness.program)).not.toContain(victim);
  await expect.poll(async () => countOf(await atOnce(client, 8), 200)).toBe(8);
  for (const path of ['/readyz', '/healthz']) {
    expect((await fetch(new URL(path, await harness.program.metricsUrl()))).status).toBe(200);
  }
});

test('a killed worker gives back nothing of a rate, and nothing of a quota that was written', async () => {
  const limited = await clientWith({ rateRu: 2, windowSeconds: 300 });
  expect(countOf(await atOnce(limited, 15), 200)).toBe(15);
  const metered = await clientWith({ quota: { ru: 5, period: 'day' }, concurrency: 1000 });
  expect(countOf(await atOnce(metered, 30), 200)).toBe(30);
  const requests = async () => Number((await usageOf(metered.id))[0]?.requests);
  await expect.poll(requests, { timeout: 15_000 }).toBe(30);

  await killWorker();
  await bothServe(harness.program, harness.api.url);
  await whileStoreResponds(storeFailures, async () =>
    expect(countOf(await atOnce(limited, 30), 429)).toBeGreaterThanOrEqual(25),
  );
  const more = countOf(await atOnce(metered, 100), 200);
  expect(more).toBeGreaterThanOrEqual(20);
  expect(more).toBeLessThanOrEqual(20 * WORKERS);
  await expect.poll(requests, { timeout: 15_000 }).toBe(30 + more);
});

/** Returns the process id of the worker that was killed. */
async function killWorker(): Promise<number> {
  const [victim = 0] = workersOf(harness.program);
  process.kill(victim, 'SIGKILL');
  await expect.poll(() => isAlive(victim)).toBe(false);
  return victim;
}

test('SIGTERM lets all workers finish their responses', async () => {
  const { program, url } = await startAnother();
  const client = await clientWith({}, url);
  const workers = workersOf(program);
  await whileNothingIsRead(async (release) => {
    const held = Array.from({ length: 10 }, () => client.request(BLOCKS));
    // Until the workers have accepted all of them.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    process.kill(program.processId, 'SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(program.isRunning()).toBe(true);
    await release();
    const statuses = (await Promise.all(held)).map(({ status }) => status);
    expect(statuses).toEqual(held.map(() => 200));
  });
  expect(await program.exited).toBe(0);
  expect(workers.filter(isAlive)).toEqual([]);
  expect(await usageOf(client.id)).toMatchObject([{ requests: 10n }]);
});

test('a killed primary process leaves no worker', async () => {
  const { program } = await startApi(env(), undefined, { API_WORKERS: String(WORKERS) });
  await expect.poll(() => workersOf(program), { timeout: 10_000 }).toHaveLength(WORKERS);
  // Until both listen.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(program.output().match(/Server listening/g)).toHaveLength(1);
  const workers = workersOf(program);
  await program.kill();
  await expect.poll(() => workers.filter(isAlive), { timeout: 5000 }).toEqual([]);
});

test('problems of the configuration and of the database are reported once, with exit code 1', async () => {
  const wrong = startApiProgram(env(), { API_WORKERS: '2', RATE_LIMIT_STORE: 'paper' });
  expect(await wrong.exited).toBe(1);
  expect(wrong.output().match(/RATE_LIMIT_STORE/g)).toHaveLength(1);
  const inMemory = startApiProgram(env(), { API_WORKERS: '2', RATE_LIMIT_STORE: 'memory' });
  expect(await inMemory.exited).toBe(1);
  expect(inMemory.output()).toContain('RATE_LIMIT_STORE: must be postgres or unset if API_WORKERS is above 1');
  const many = startApiProgram(env(), { API_WORKERS: '0' });
  expect(await many.exited).toBe(1);
  expect(many.output()).toContain('API_WORKERS: must be a whole number from 1 to 64');

  const empty = await createTestDatabase({ empty: true });
  const unmigrated = startApiProgram({ ...env(), databaseUrl: empty.url }, { API_WORKERS: '2' });
  expect(await unmigrated.exited).toBe(1);
  expect(unmigrated.output().match(/stopped permanently/g)).toHaveLength(1);
  await empty.drop();
});

test('a port that is taken ends the program with exit code 1, and the variable is named', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  for (const variables of [{ PORT: String(port) }, { METRICS_PORT: String(port) }]) {
    for (const workers of ['1', '2']) {
      const program = startApiProgram(env(), { API_WORKERS: workers, ...variables });
      expect(await program.exited).toBe(1);
      const [variable] = Object.keys(variables);
      expect(program.output()).toContain(`Port ${port} on 127.0.0.1 is in use by another program. Set ${variable} to`);
    }
  }
  other.close();
});

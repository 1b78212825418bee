/** What the API answers while what it needs is away: soon, in words, and as before when it is back. Against the real process. */
import { createKey, createTestDatabase } from '@kasgres/database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startApi, startApiProgram } from '../node/programs.ts';
import { HttpClient } from './http-client.ts';
import { openStage, type Stage } from './stage.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** No request may hang. The API gives up after 15 s at the latest; what is refused at once is answered at once. */
const SOON_MS = 4000;
const AT_LAST_MS = 20_000;

let stage: Stage;
let toNode: TcpProxy;
let toDatabase: TcpProxy;
let address: string;

beforeAll(async () => {
  stage = await openStage({
    rounds: 60,
    between: async ({ nodeUrl, databaseUrl }) => {
      toNode = await proxyOf(nodeUrl);
      toDatabase = await proxyOf(databaseUrl);
      return { nodeUrl: through(nodeUrl, toNode), databaseUrl: through(databaseUrl, toDatabase) };
    },
  });
  const script = await stage.database.kysely
    .selectFrom('scripts')
    .select('address')
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  address = script.address as string;
});
afterAll(async () => {
  await stage.close();
  toNode.stop();
  toDatabase.stop();
});
afterEach(async () => {
  toNode.pass();
  toDatabase.pass();
  await expect
    .poll(async () => (await statusOf('/v1/status')).json, { timeout: 30_000 })
    .toMatchObject({ nodeConnected: true });
  await expect.poll(async () => (await statusOf('/v1/rpc/getCoinSupply')).status, { timeout: 30_000 }).toBe(200);
});

const proxyOf = (url: string) => {
  const { hostname, port } = new URL(url);
  return TcpProxy.start({ host: hostname, port: Number(port) });
};

function through(url: string, proxy: TcpProxy): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(proxy.port);
  return changed.toString();
}

const statusOf = (path: string, body?: object) => stage.api.request(path, body && { body });

/** Requests by what they need. */
const FROM_DATABASE: [string, object?][] = [
  ['/v1/rpc/getBlocks', {}],
  ['/v1/rpc/getCoinSupply'],
  ['/v1/transactions/acceptance', { transactionIds: ['ab'.repeat(32)] }],
  ['/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: ['1'] }],
];
const fromNode = (): [string, object][] => [
  ['/v1/rpc/getMempoolEntry', { transactionId: 'ab'.repeat(32) }],
  ['/v1/rpc/getMempoolEntriesByAddresses', { addresses: [address] }],
  ['/v1/rpc/getBlockTemplate', { payAddress: address }],
];

/** Every answer is a 503 in the envelope, within the time, that says what is missing and when to come back. */
async function expectUnavailable(
  requests: [string, object?][],
  message: string | RegExp,
  withinMs: number,
): Promise<void> {
  for (const [path, body] of requests) {
    const begun = performance.now();
    const { status, json, headers } = await statusOf(path, body);
    expect(performance.now() - begun, path).toBeLessThan(withinMs);
    expect(status, path).toBe(503);
    expect(json['message']).toMatch(message);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
}

const answersAtAll = () => true;

async function requestsWritten(): Promise<bigint> {
  const { rows } = await stage.database.pool.query<{ sum: bigint }>(
    'select coalesce(sum(requests), 0)::bigint as sum from api_key_usage',
  );
  return rows[0]?.sum ?? 0n;
}

describe('the node', () => {
  test('refuses connections: the database still answers, the rest says so', async () => {
    toNode.refuse();
    await expect
      .poll(async () => (await statusOf('/v1/status')).json)
      .toMatchObject({
        nodeConnected: false,
        nodeSinkBlueScore: null,
        nodeSynced: null,
      });
    await expectUnavailable(fromNode(), 'The node is out of reach', SOON_MS);
    for (const [path, body] of FROM_DATABASE) expect((await statusOf(path, body)).status, path).toBe(200);
  });

  test('falls silent: nothing hangs', async () => {
    toNode.swallow();
    const [first] = fromNode();
    if (first !== undefined) await expectUnavailable([first], 'The node is out of reach', AT_LAST_MS);
    for (const [path, body] of FROM_DATABASE) expect((await statusOf(path, body)).status, path).toBe(200);
    expect((await statusOf('/v1/status')).status).toBe(200);
  });
});

describe('the database', () => {
  test('refuses connections: every answer says so at once', async () => {
    toDatabase.refuse();
    await expectUnavailable([['/v1/status'], ...FROM_DATABASE], 'The database is out of reach', SOON_MS);
  });

  test('falls silent: nothing hangs', async () => {
    toDatabase.swallow();
    const requests: [string, object?][] = [['/v1/status'], ...FROM_DATABASE.slice(0, 2)];
    await Promise.all(
      requests.map((request) => expectUnavailable([request], /database is out of reach|took too long/, AT_LAST_MS)),
    );
  });

  test('usage is kept until it can be written', async () => {
    const before = await requestsWritten();
    await statusOf('/v1/rpc/getCurrentNetwork');
    toDatabase.refuse();
    await new Promise((resolve) => setTimeout(resolve, 6000));
    toDatabase.pass();
    await expect.poll(requestsWritten, { timeout: 15_000 }).toBeGreaterThan(before);
  });
});

describe('the start', () => {
  test('before the database is there: answers 503, and works when it comes', async () => {
    toDatabase.refuse();
    const { program, url } = await startApi(
      { nodeUrl: stage.world.server.url, databaseUrl: through(stage.database.url, toDatabase) },
      answersAtAll,
    );
    const api = new HttpClient(url, stage.api.key);
    expect((await api.request('/v1/status')).status).toBe(503);
    toDatabase.pass();
    await expect.poll(async () => (await api.request('/v1/rpc/getCoinSupply')).status, { timeout: 10_000 }).toBe(200);
    await program.stop();
    expect(await program.exited).toBe(0);
  });

  test('before the indexer has written anything: 503 but for the status, which says so', async () => {
    const empty = await createTestDatabase();
    const { key } = await createKey(empty.kysely, { name: 'test' });
    const { program, url } = await startApi({ nodeUrl: stage.world.server.url, databaseUrl: empty.url });
    const api = new HttpClient(url, key);
    expect((await api.request('/v1/status')).json).toMatchObject({ network: null, sink: null, synced: false });
    const { status, json } = await api.request('/v1/rpc/getCoinSupply');
    expect({ status, json }).toEqual({ status: 503, json: { statusCode: 503, message: 'Nothing is indexed yet' } });
    await program.stop();
    await empty.drop();
  });

  test('with a replica: answers come from it, keys and usage stay with the database', async () => {
    const primary = await createTestDatabase();
    const { id, key } = await createKey(primary.kysely, { name: 'test' });
    const { program, url } = await startApi({ nodeUrl: stage.world.server.url, databaseUrl: primary.url }, undefined, {
      DATABASE_READ_URL: stage.database.url,
    });
    const answer = await new HttpClient(url, key).request('/v1/rpc/getCoinSupply');
    expect(answer.json).toEqual((await statusOf('/v1/rpc/getCoinSupply')).json);
    expect((await new HttpClient(url, stage.api.key).request('/v1/rpc/getCoinSupply')).status).toBe(401);
    await program.stop();
    const usage = await primary.kysely.selectFrom('api_key_usage').selectAll().execute();
    expect(usage).toMatchObject([{ api_key_id: id, requests: 1n, ru: '0.1' }]);
    await primary.drop();
  });

  test('on a database without the schema: ends for good, in words', async () => {
    const empty = await createTestDatabase({ empty: true });
    const program = startApiProgram({ nodeUrl: stage.world.server.url, databaseUrl: empty.url });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain('kasgres migrate');
    await empty.drop();
  });

  test('with a database of another network than the node: ends for good, in words', async () => {
    const { pool, url: databaseUrl } = stage.database;
    await pool.query(`update meta set network = 'mainnet'`);
    try {
      const program = startApiProgram({ nodeUrl: stage.world.server.url, databaseUrl });
      expect(await program.exited).toBe(1);
      expect(program.output()).toMatch(/database is of mainnet.*simnet/);
    } finally {
      await pool.query(`update meta set network = 'simnet'`);
    }
  });
});

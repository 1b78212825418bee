/**
 * The responses of the API while what it needs is away: soon, with an explanation, and as before
 * when it is back. Against the real process.
 */
import { connect as netConnect } from 'node:net';
import { createKey, migrate } from '@kasgres/database';
import { createTestDatabase, TcpProxy } from '@kasgres/database/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Program, startApi, startApiProgram, startIndexer } from '../support/programs.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

/**
 * No request may hang. Connections that fall silent are given up after some seconds; a refusal gets
 * a response at once.
 */
const SOON_MS = 4000;
const SILENCE_MS = 9000;

/** Bytes of responses on their way through the sockets of both ends, on one machine. */
const MORE_THAN_SOCKETS_HOLD = 12 * 2 ** 20;

let harness: Harness;
let toNode: TcpProxy;
let toDatabase: TcpProxy;
let address: string;

beforeAll(async () => {
  harness = await openHarness({
    rounds: 60,
    between: async ({ nodeUrl, databaseUrl }) => {
      toNode = await TcpProxy.start(nodeUrl);
      toDatabase = await TcpProxy.start(databaseUrl);
      return { nodeUrl: toNode.url, databaseUrl: toDatabase.url };
    },
  });
  const script = await harness.database.kysely
    .selectFrom('scripts')
    .select('address')
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  address = script.address as string;
});
afterAll(async () => {
  await harness.close();
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

const statusOf = (path: string, body?: object) => harness.api.request(path, body && { body });

const ID = 'ab'.repeat(32);
const NATIVE = '00'.repeat(20);
const EMPTY_TRANSACTION = {
  version: 0,
  inputs: [],
  outputs: [],
  lockTime: 0,
  subnetworkId: NATIVE,
  gas: 0,
  payload: '',
};
const SOME_HEADER = {
  version: 2,
  parentsByLevel: [[ID]],
  hashMerkleRoot: ID,
  acceptedIdMerkleRoot: ID,
  utxoCommitment: ID,
  timestamp: 1,
  bits: 1,
  nonce: 1,
  daaScore: 1,
  blueWork: 1,
  blueScore: 1,
  pruningPoint: ID,
};

/** Requests by what they need. */
const FROM_DATABASE: [string, object?][] = [
  ['/v1/rpc/getBlocks', {}],
  ['/v1/rpc/getCoinSupply'],
  ['/v1/transactions/acceptance', { transactionIds: ['ab'.repeat(32)] }],
  ['/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: ['1'] }],
  ['/v1/rpc/getSink'],
  ['/v1/rpc/getSinkBlueScore'],
];
const utxosFromDatabase = (): [string, object][] => [
  ['/v1/rpc/getBalancesByAddresses', { addresses: [address] }],
  ['/v1/rpc/getUtxosByAddresses', { addresses: [address] }],
];
const fromNode = (): [string, object?][] => [
  ['/v1/rpc/getMempoolEntry', { transactionId: 'ab'.repeat(32) }],
  ['/v1/rpc/getMempoolEntriesByAddresses', { addresses: [address] }],
  ['/v1/rpc/getBlockTemplate', { payAddress: address }],
  ['/v1/rpc/getMempoolEntries'],
  ['/v1/rpc/getBlockDagInfo'],
  ['/v1/rpc/getBlockCount'],
  ['/v1/rpc/getInfo'],
  ['/v1/rpc/getServerInfo'],
  ['/v1/rpc/getFeeEstimate'],
  ['/v1/rpc/getSubnetwork', { subnetworkId: NATIVE }],
  ['/v1/rpc/getSeqCommitLaneProof', { blockHash: 'ab'.repeat(32), laneKey: 'ab'.repeat(32) }],
  ['/v1/rpc/submitTransaction', { transaction: EMPTY_TRANSACTION }],
  ['/v1/rpc/submitBlock', { block: { header: SOME_HEADER, transactions: [] } }],
];

/** Requests that do not share a read, as those for the state in memory do. */
const ACCEPTANCE = '/v1/transactions/acceptance';
const acceptanceOf = (number: number): object => ({ transactionIds: [String(number).padStart(64, '0')] });

/** The status may be served from memory for a second. */
const untilStatusIsReadAgain = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1100));

/**
 * Every response is a 503 in the envelope, within the time, that says what is missing and when to
 * come back.
 */
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

const respondsAtAll = () => true;

async function requestsWritten(): Promise<bigint> {
  const { rows } = await harness.database.pool.query<{ sum: bigint }>(
    'select coalesce(sum(requests), 0)::bigint as sum from api_key_usage',
  );
  return rows[0]?.sum ?? 0n;
}

describe('when the node is unavailable', () => {
  test('it serves what needs no node while the node refuses connections', async () => {
    toNode.refuse();
    // The status and what the node says of itself are each kept for a second.
    await expect
      .poll(async () => (await statusOf('/v1/status')).json, { timeout: 10_000 })
      .toMatchObject({
        nodeConnected: false,
        nodeSinkBlueScore: null,
        nodeSynced: null,
      });
    await expectUnavailable(fromNode(), 'The node is out of reach', SOON_MS);
    for (const [path, body] of [...FROM_DATABASE, ...utxosFromDatabase()])
      expect((await statusOf(path, body)).status, path).toBe(200);
  });

  test('it lets no request hang while the other side is silent', async () => {
    toNode.swallow();
    const [first] = fromNode();
    if (first !== undefined) await expectUnavailable([first], 'The node is out of reach', SILENCE_MS);
    for (const [path, body] of FROM_DATABASE) expect((await statusOf(path, body)).status, path).toBe(200);
    expect((await statusOf('/v1/status')).status).toBe(200);
  });
});

describe('when the database is unavailable', () => {
  test('it responds 503 at once while the database refuses connections', async () => {
    toDatabase.refuse();
    await untilStatusIsReadAgain();
    await expectUnavailable([['/v1/status'], ...FROM_DATABASE], 'The database is out of reach', SOON_MS);
  });

  test('it lets no request hang while the other side is silent', async () => {
    toDatabase.swallow();
    await untilStatusIsReadAgain();
    const requests: [string, object?][] = [['/v1/status'], ...FROM_DATABASE.slice(0, 2)];
    await Promise.all(
      requests.map((request) => expectUnavailable([request], /database is out of reach|took too long/, SILENCE_MS)),
    );
  });

  test('it cancels a slow query, and later requests do not wait long', async () => {
    const locker = await harness.database.pool.connect();
    await locker.query('begin; lock table checkpoint in access exclusive mode');
    try {
      // More than there are connections.
      const asked = Array.from({ length: 30 }, async (_, number) => {
        const begun = performance.now();
        const { status, json, headers } = await statusOf(ACCEPTANCE, acceptanceOf(number));
        const seconds = (performance.now() - begun) / 1000;
        return { status, message: json['message'], retryAfter: headers.get('retry-after'), seconds };
      });
      const served = await Promise.all(asked);
      const messages = served.map(({ message }) => String(message));
      expect(new Set(messages)).toEqual(new Set(['The database took too long', 'The database is busy']));
      expect(served.every(({ status, retryAfter }) => status === 503 && Number(retryAfter) > 0)).toBe(true);
      const slowest = (message: string) =>
        Math.max(...served.filter((response) => response.message === message).map(({ seconds }) => seconds));
      expect(slowest('The database took too long')).toBeLessThan(8);
      expect(slowest('The database is busy')).toBeLessThan(8);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    expect((await statusOf('/v1/rpc/getCoinSupply')).status).toBe(200);
  });

  test('it refuses requests at once when the queue of a slow database is full', async () => {
    const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url };
    const { program, url } = await startApi(env, undefined, { DATABASE_CONNECTIONS: '1' });
    const api = new ApiClient(url, harness.api.key);
    const locker = await harness.database.pool.connect();
    // Requests wait for the state before they queue, so it must remain readable.
    await locker.query('begin; lock table transactions in access exclusive mode');
    try {
      const responses = await Promise.all(
        Array.from({ length: 120 }, (_, number) => api.request(ACCEPTANCE, { body: acceptanceOf(number) })),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
      // The queue has room for 50, which wait for three seconds. The server measures the time,
      // since this process may be slow to read.
      const metrics = (await (await fetch(await program.metricsUrl())).text()).split('\n');
      const labels = ['kasgres_api_request_seconds_bucket', 'le="2.5"', `route="${ACCEPTANCE}"`, 'status="503"'];
      const prompt = metrics.find((line) => labels.every((label) => line.includes(label)));
      expect(Number(prompt?.split(' ').at(-1))).toBeGreaterThanOrEqual(60);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    await expect.poll(async () => (await api.request('/v1/rpc/getCoinSupply')).status, { timeout: 10_000 }).toBe(200);
    await program.stop();
  });

  test('it keeps usage until it can be written', async () => {
    const before = await requestsWritten();
    await statusOf('/v1/rpc/getCurrentNetwork');
    toDatabase.refuse();
    await new Promise((resolve) => setTimeout(resolve, 6000));
    toDatabase.pass();
    await expect.poll(requestsWritten, { timeout: 15_000 }).toBeGreaterThan(before);
  });
});

describe('a slow client', () => {
  test('it holds no database connection', async () => {
    const env = { nodeUrl: harness.simulatedDag.server.url, databaseUrl: harness.database.url };
    const { program, url } = await startApi(env, undefined, { DATABASE_CONNECTIONS: '1' });
    const api = new ApiClient(url, harness.api.key);
    const body = JSON.stringify({ includeBlocks: true, includeTransactions: true });
    const { text } = await api.request('/v1/rpc/getBlocks', { body });
    const request =
      `POST /v1/rpc/getBlocks HTTP/1.1\r\nhost: x\r\nx-api-key: ${harness.api.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const responses = Math.ceil(MORE_THAN_SOCKETS_HOLD / text.length);
    const { hostname, port } = new URL(url);
    const slow = netConnect({ host: hostname, port: Number(port) }).pause();
    slow.write(request.repeat(responses));

    // A response from the database. Until the one connection has made all of those above, others
    // may be in line for too long.
    const ask = async (number: number) => (await api.request(ACCEPTANCE, { body: acceptanceOf(number) })).status;
    const askOften = async () => {
      for (let number = 0; number < 20; number += 1) if ((await ask(number)) !== 200) return false;
      return true;
    };
    await expect.poll(askOften, { timeout: 60_000 }).toBe(true);
    const { rows } = await harness.database.pool.query(
      `select query from pg_stat_activity where application_name = 'kasgres api' and datname = current_database()
         and state = 'idle in transaction' and state_change < now() - interval '2 seconds'`,
    );
    expect(rows).toEqual([]);
    // Unread bytes were kept, and come when they are read.
    let received = '';
    slow.on('data', (data) => {
      received += data.toString('latin1');
    });
    slow.resume();
    await expect.poll(() => received.match(/HTTP\/1\.1 (200|503)/g)?.length, { timeout: 30_000 }).toBe(responses);
    slow.destroy();
    await program.stop();
  });
});

const probe = async (program: Program, path: string) => (await fetch(new URL(path, await program.metricsUrl()))).status;

describe('the probes', () => {
  test('it reports in the indexer’s probes whether it follows the chain', async () => {
    const empty = await createTestDatabase();
    toNode.refuse();
    const indexer = startIndexer({
      nodeUrl: toNode.url,
      databaseUrl: empty.url,
    });
    expect(await probe(indexer, '/healthz')).toBe(200);
    expect(await probe(indexer, '/readyz')).toBe(503);
    toNode.pass();
    await expect.poll(() => probe(indexer, '/readyz'), { timeout: 30_000 }).toBe(200);
    toNode.refuse();
    await expect.poll(() => probe(indexer, '/readyz'), { timeout: 30_000 }).toBe(503);
    expect(await probe(indexer, '/healthz')).toBe(200);
    toNode.pass();
    await expect.poll(() => probe(indexer, '/readyz'), { timeout: 30_000 }).toBe(200);
    expect(await probe(indexer, '/metrics')).toBe(200);
    await indexer.stop();
    expect(await indexer.exited).toBe(0);
    await empty.drop();
  });

  test('it reports in the API’s probes whether requests can be served', async () => {
    toDatabase.refuse();
    const { program } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: toDatabase.url },
      respondsAtAll,
    );
    expect(await probe(program, '/healthz')).toBe(200);
    expect(await probe(program, '/readyz')).toBe(503);
    toDatabase.pass();
    await expect.poll(() => probe(program, '/readyz'), { timeout: 10_000 }).toBe(200);
    toDatabase.refuse();
    await expect.poll(() => probe(program, '/readyz'), { timeout: 10_000 }).toBe(503);
    expect(await probe(program, '/healthz')).toBe(200);
    toDatabase.pass();
    await expect.poll(() => probe(program, '/readyz'), { timeout: 10_000 }).toBe(200);
    expect(await probe(program, '/metrics')).toBe(200);
    await program.stop();
  });
});

describe('at its start', () => {
  test('it responds 503 if started before the database, and recovers', async () => {
    toDatabase.refuse();
    const { program, url } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: toDatabase.url },
      respondsAtAll,
    );
    const api = new ApiClient(url, harness.api.key);
    expect((await api.request('/v1/status')).status).toBe(503);
    toDatabase.pass();
    await expect.poll(async () => (await api.request('/v1/rpc/getCoinSupply')).status, { timeout: 10_000 }).toBe(200);
    await program.stop();
    expect(await program.exited).toBe(0);
  });

  test('it responds 503, except for the status, while the index is empty', async () => {
    const empty = await createTestDatabase();
    const { key } = await createKey(empty.kysely, { name: 'test' });
    const { program, url } = await startApi({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: empty.url });
    const api = new ApiClient(url, key);
    expect((await api.request('/v1/status')).json).toMatchObject({ network: null, sink: null, synced: false });
    const { status, json } = await api.request('/v1/rpc/getCoinSupply');
    expect({ status, json }).toEqual({ status: 503, json: { statusCode: 503, message: 'Nothing is indexed yet' } });
    await program.stop();
    await empty.drop();
  });

  test('it reads from a replica, and keeps keys and usage in the primary', async () => {
    const primary = await createTestDatabase();
    const { id, key } = await createKey(primary.kysely, { name: 'test' });
    const { program, url } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: primary.url },
      undefined,
      {
        DATABASE_READ_URL: harness.database.url,
      },
    );
    const response = await new ApiClient(url, key).request('/v1/rpc/getCoinSupply');
    expect(response.json).toEqual((await statusOf('/v1/rpc/getCoinSupply')).json);
    expect((await new ApiClient(url, harness.api.key).request('/v1/rpc/getCoinSupply')).status).toBe(401);
    await program.stop();
    const usage = await primary.kysely.selectFrom('api_key_usage').selectAll().execute();
    expect(usage).toMatchObject([{ api_key_id: id, requests: 1n, ru: '0.1' }]);
    await primary.drop();
  });

  test('it waits for the schema on a replica', async () => {
    const primary = await createTestDatabase();
    const replica = await createTestDatabase({ empty: true });
    const { key } = await createKey(primary.kysely, { name: 'test' });
    const { program, url } = await startApi(
      { nodeUrl: harness.simulatedDag.server.url, databaseUrl: primary.url },
      respondsAtAll,
      { DATABASE_READ_URL: replica.url },
    );
    await expect
      .poll(() => program.output(), { timeout: 30_000 })
      .toContain('does not have the schema of its primary yet');
    await migrate(replica.url);
    const message = async () => (await new ApiClient(url, key).request('/v1/rpc/getCoinSupply')).json['message'];
    await expect.poll(message, { timeout: 30_000 }).toBe('Nothing is indexed yet');
    expect(program.isRunning()).toBe(true);
    await program.stop();
    await replica.drop();
    await primary.drop();
  });

  test('it exits with an explanation on a database without the schema', async () => {
    const empty = await createTestDatabase({ empty: true });
    const program = startApiProgram({ nodeUrl: harness.simulatedDag.server.url, databaseUrl: empty.url });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain('kasgres migrate');
    await empty.drop();
  });

  test('it exits with an explanation if database and node are of different networks', async () => {
    const { pool, url: databaseUrl } = harness.database;
    await pool.query(`update meta set network = 'mainnet'`);
    try {
      const program = startApiProgram({ nodeUrl: harness.simulatedDag.server.url, databaseUrl });
      expect(await program.exited).toBe(1);
      expect(program.output()).toMatch(/database is of mainnet.*simnet/);
    } finally {
      await pool.query(`update meta set network = 'simnet'`);
    }
  });
});

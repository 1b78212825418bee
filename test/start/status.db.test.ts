/**
 * Commands speak to the instance that was asked for: explicit settings before those of a start,
 * these before the defaults.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { takeLock } from '@kasgres/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { paste } from './started.ts';
import { openHarness, type Harness } from '../api/harness.ts';

/** An index with its API. */
let other: Harness;
/** An index of which nobody has heard but DATABASE_URL and DATA_DIR. */
let own: TestDatabase;
let dataDir: string;

beforeAll(async () => {
  other = await openHarness({ rounds: 10 });
  own = await createTestDatabase();
  await own.pool.query(`insert into meta (network) values ('testnet-10')`);
});

afterAll(async () => {
  await other.close();
  await own.drop();
});

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kasgres-status-'));
});

afterEach(() => rm(dataDir, { recursive: true }));

/**
 * Leaves behind what a start does: the address of an API, where another instance responds by now,
 * and of the database.
 */
async function leaveRuntimeFile(databaseUrl = own.url): Promise<void> {
  const content = { nodeUrl: other.simulatedDag.server.url, databaseUrl, apiUrl: other.api.url, processIds: [] };
  await writeFile(join(dataDir, 'runtime.json'), JSON.stringify(content));
}

async function status(env: Record<string, string>): Promise<Record<string, unknown>> {
  return JSON.parse(await paste('npx kasgres status --json', env)) as Record<string, unknown>;
}

/** As commands show it. */
function nameOf(url: string): string {
  return url.replace(/:[^:@/]*@/, '@').replace(/\?.*/, '');
}

test('status asks the database of DATABASE_URL, even after a start, and says so', async () => {
  await leaveRuntimeFile();
  const fromDatabase = await status({ DATA_DIR: dataDir, DATABASE_URL: own.url });
  expect(fromDatabase).toMatchObject({ database: nameOf(own.url), network: 'testnet-10' });
  expect(fromDatabase).not.toHaveProperty('api');
  const lines = await paste('npx kasgres status', { DATA_DIR: dataDir, DATABASE_URL: own.url });
  expect(lines).toMatch(/^database +postgres/);
});

test('status asks the API of HOST and PORT, even after a start, and says so', async () => {
  await writeFile(
    join(dataDir, 'runtime.json'),
    JSON.stringify({
      nodeUrl: 'grpc://127.0.0.1:1',
      databaseUrl: own.url,
      apiUrl: 'http://127.0.0.1:1',
      processIds: [],
    }),
  );
  const { port } = new URL(other.api.url);
  expect(await status({ DATA_DIR: dataDir, PORT: port })).toMatchObject({ api: other.api.url, network: 'simnet' });
});

test('status asks the API of a start while it runs, and its database afterwards', async () => {
  await leaveRuntimeFile();
  const lock = await takeLock(join(dataDir, 'lock'), () => 'held');
  expect(await status({ DATA_DIR: dataDir })).toMatchObject({ api: other.api.url, network: 'simnet' });
  await lock.release();
  const afterwards = await status({ DATA_DIR: dataDir });
  expect(afterwards).toMatchObject({ database: nameOf(own.url), network: 'testnet-10' });
  expect(afterwards).not.toHaveProperty('api');
});

test('status tells of an API that was named beside a database whether it responds from that one', async () => {
  const { port } = new URL(other.api.url);
  expect(await status({ DATABASE_URL: own.url, PORT: port })).toMatchObject({
    api: `${other.api.url} responds, but from another database: its sink is not in this one`,
    network: 'testnet-10',
  });
  expect(await status({ DATABASE_URL: other.database.url, PORT: port })).toMatchObject({
    api: `${other.api.url} responds`,
    network: 'simnet',
  });
  expect(await status({ DATABASE_URL: own.url, PORT: '1' })).toMatchObject({
    api: 'http://127.0.0.1:1 does not respond',
    network: 'testnet-10',
  });
});

async function refusal(command: string, env: Record<string, string>): Promise<string> {
  const failure = await paste(command, env).then(
    (printed) => expect.fail(`it printed ${printed}`),
    (error: unknown) => error as { code: number; stderr: string; stdout: string },
  );
  expect(failure.code).toBe(1);
  return failure.stderr;
}

test('status refuses a DATA_DIR where nothing was started, and what is no API of Kasgres', async () => {
  expect(await refusal('npx kasgres status', { DATA_DIR: dataDir })).toContain(`no Kasgres was started on ${dataDir}`);
  const foreign = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"status":"fine"}');
  }).listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  const { port } = foreign.address() as AddressInfo;
  expect(await refusal('npx kasgres status', { PORT: String(port) })).toContain(
    `No Kasgres API responds at http://127.0.0.1:${port}`,
  );
  foreign.close();
});

test.each(['status', 'keys list', 'tags list', 'verify'])(
  '%s names the database of a start that has ended',
  async (command) => {
    await leaveRuntimeFile('postgres://kasgres:secret@127.0.0.1:1/kasgres');
    const said = await refusal(`npx kasgres ${command}`, { DATA_DIR: dataDir });
    expect(said).toMatch(/The database postgres:\/\/kasgres@127.0.0.1:1\/kasgres cannot be used: connect ECONNREFUSED/);
    expect(said).toContain(`the Kasgres on ${dataDir}, which is not running: start it (kasgres start)`);
    expect(said).not.toContain('secret');
  },
);

test('a program takes no node from a start where a database is named', async () => {
  await leaveRuntimeFile();
  const said = await refusal('npx kasgres indexer', { DATA_DIR: dataDir, DATABASE_URL: own.url });
  expect(said).toContain('NODE_URL: is not set');
  expect((await own.pool.query('select from bootstrap_blocks')).rows).toEqual([]);
});

test('verify of a database without an index says so, and calls nothing broken', async () => {
  const empty = await createTestDatabase();
  const said = await refusal('npx kasgres verify', { DATABASE_URL: empty.url });
  expect(said).toContain('Nothing is indexed in this database yet.');
  expect(said).not.toContain('BROKEN');
  await empty.drop();
});

/**
 * A start that cannot work writes nothing, prints no greeting, and says at once what is wrong and
 * what to do.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Program, startIndexer } from '../support/programs.ts';
import { freePort } from '../support/programs.ts';
import { ROOT, Started } from './started.ts';

const SMALL_CHAIN = { DEVNET_PAST_BLOCKS: '200', DEVNET_PAST_TRANSACTIONS: '200', DEVNET_BLOCKS_PER_SECOND: '0' };

let node: Started;
let nodeUrl: string;
/** Filled from that node. */
let filled: TestDatabase;
let dataDir: string;
let started: Started | undefined;

beforeAll(async () => {
  node = new Started({
    command: [join(ROOT, 'node_modules/.bin/node'), 'packages/devnet/src/main.ts'],
    env: SMALL_CHAIN,
  });
  nodeUrl = (JSON.parse(await node.line(/^\{"url"/)) as { url: string }).url;
  filled = await createTestDatabase();
  const indexer = startIndexer({ nodeUrl, databaseUrl: filled.url });
  const isCaughtUp = async (): Promise<boolean | undefined> =>
    (await filled.pool.query<{ done: boolean }>('select not first_catch_up as done from checkpoint')).rows[0]?.done;
  await vi.waitUntil(isCaughtUp, { timeout: 120_000, interval: 100 });
  await indexer.stop();
});

afterAll(async () => {
  await node.end();
  await filled.drop();
});

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kasgres-refused-'));
});

afterEach(async () => {
  await started?.end();
  started = undefined;
  await rm(dataDir, { recursive: true });
});

async function start(env: Record<string, string>): Promise<Started> {
  started = new Started({ env: { ...SMALL_CHAIN, DATA_DIR: dataDir, PORT: String(await freePort()), ...env } });
  return started;
}

/** Runs a start to its end, which must be that of a refusal. Returns what it printed. */
async function refuse(env: Record<string, string>): Promise<string> {
  const refused = await start(env);
  await refused.exited();
  expect(refused.exitCode, refused.output).toBe(1);
  expect(refused.output).not.toMatch(/Kasgres is ready|kdp_|Simulating/);
  expect(existsSync(join(dataDir, 'demo-key'))).toBe(false);
  expect(existsSync(join(dataDir, 'node'))).toBe(false);
  return refused.output;
}

/** The address of that database, with something changed. */
function wrong(change: (url: URL) => void): string {
  const url = new URL(filled.url);
  change(url);
  return url.href;
}

/** The rows of every table, and the tables. */
async function contentOf({ pool }: TestDatabase): Promise<Record<string, unknown>> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const content: Record<string, unknown> = {};
  for (const { name } of rows) {
    content[name] = (
      await pool.query(`select count(*), coalesce(sum(hashtext(t::text)), 0) as hash from ${name} t`)
    ).rows;
  }
  return content;
}

describe('a database that cannot be used', () => {
  let indexer: Program | undefined;
  let before: Record<string, unknown>;

  beforeEach(async () => {
    indexer = undefined;
    before = await contentOf(filled);
  });

  afterEach(async () => {
    await indexer?.stop();
    // An indexer that runs meanwhile writes to these two, also when there is no block to write.
    const ofIndexer = indexer === undefined ? {} : { 'public.checkpoint': [], 'public.clustering': [] };
    expect({ ...(await contentOf(filled)), ...ofIndexer }).toEqual({ ...before, ...ofIndexer });
  });

  test('is refused while another indexer writes to it, with NODE_URL and without', async () => {
    indexer = startIndexer({ nodeUrl, databaseUrl: filled.url });
    const isLocked = async (): Promise<number> =>
      (
        await filled.pool.query(
          // The server has the databases, and so the indexers, of other tests too.
          `select from pg_locks join pg_database d on d.oid = database
            and datname = current_database() where locktype = 'advisory'`,
        )
      ).rows.length;
    await expect.poll(isLocked, { timeout: 30_000 }).toBe(1);
    for (const env of [{}, { NODE_URL: nodeUrl }]) {
      const output = await refuse({ DATABASE_URL: filled.url, ...env });
      expect(output).toContain('Another indexer is writing to this database, and only one may');
      expect(output).toContain(new URL(filled.url).pathname);
      expect(output).not.toContain(new URL(filled.url).password);
    }
    expect(indexer.isRunning()).toBe(true);
  });

  test('is refused when it holds another simulated chain', async () => {
    expect(await refuse({ DATABASE_URL: filled.url })).toMatch(
      /holds another simulated chain.*Set DATA_DIR to the folder of the start that filled it/,
    );
  });

  test('is refused when it holds another network', async () => {
    await filled.pool.query(`update meta set network = 'mainnet'`);
    before = await contentOf(filled);
    expect(await refuse({ DATABASE_URL: filled.url })).toMatch(/holds mainnet, .*Set NODE_URL to a node of mainnet/);
    expect(await refuse({ DATABASE_URL: filled.url, NODE_URL: nodeUrl })).toMatch(
      /it is on simnet, but the database holds mainnet\. Set NODE_URL to a node of mainnet/,
    );
  });

  test('is refused when its schema is newer, or not of Kasgres', async () => {
    const other = await createTestDatabase();
    await other.pool.query(`insert into migrations (number, name, checksum) values (99, '0099_later', '')`);
    expect(await refuse({ DATABASE_URL: other.url })).toMatch(
      /schema is newer than this program: it has migration 99.*Use a version of Kasgres at least as new/,
    );
    await other.drop();

    const foreign = await createTestDatabase({ empty: true });
    await foreign.pool.query('create table orders (id bigint); create table migrations (version text)');
    const content = await contentOf(foreign);
    expect(await refuse({ DATABASE_URL: foreign.url })).toMatch(
      /has tables of another program \(migrations, orders\)\. Use a separate database/,
    );
    expect(await contentOf(foreign)).toEqual(content);
    await foreign.drop();
  });

  test('is refused when its role may not write, or it is read-only', async () => {
    const empty = await createTestDatabase({ empty: true });
    const name = new URL(empty.url).pathname.slice(1);
    await empty.pool.query(`create role ${name}_reader login password 'secret'`);
    const url = new URL(empty.url);
    [url.username, url.password] = [`${name}_reader`, 'secret'];
    expect(await refuse({ DATABASE_URL: url.href })).toMatch(
      /The role \w+_reader may not create tables.*Run `kasgres migrate` as the owner/,
    );
    await empty.pool.query(`alter role ${name}_reader set default_transaction_read_only = on`);
    expect(await refuse({ DATABASE_URL: url.href })).toMatch(/transactions are read-only.*Switch that off/);
    await empty.pool.query(`drop role ${name}_reader`);
    await empty.drop();
  });

  test('is refused with address, reason and advice when it cannot be connected to, before anything is simulated', async () => {
    const nowhere = await refuse({ DATABASE_URL: wrong((url) => (url.port = '1')) });
    expect(nowhere).toMatch(/The database postgres\S*:1\/\S+ cannot be used: connect ECONNREFUSED .*start Postgres/);
    const password = await refuse({ DATABASE_URL: wrong((url) => (url.password = 'wrong')) });
    expect(password).toMatch(/password authentication failed for user .*Correct user and password in DATABASE_URL/);
    const missing = await refuse({ DATABASE_URL: wrong((url) => (url.pathname = '/missing')) });
    expect(missing).toMatch(/database "missing" does not exist\. Create the database/);
  });
});

describe('a demo on the database of DATABASE_URL', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase({ empty: true });
  });
  afterEach(() => database.drop());

  const count = async (table: string): Promise<number> =>
    Number((await database.pool.query<{ count: bigint }>(`select count(*) from ${table}`)).rows[0]?.count);

  test('gets a key and tags where nobody used it before, and has the same key at the next start', async () => {
    const first = await start({ DATABASE_URL: database.url });
    await first.ready();
    const key = /kdp_[0-9a-f]{64}/.exec(first.output)?.[0];
    expect(key).toBeDefined();
    expect(await count('attributions')).toBeGreaterThan(0);
    await first.end();
    const second = await start({ DATABASE_URL: database.url });
    await second.ready();
    expect(second.output).toContain(key);
    expect(await count('api_keys')).toBe(1);
  });

  test('gets neither where somebody did, at this start and the next', async () => {
    await database.drop();
    database = await createTestDatabase();
    await createKey(database.kysely, { name: 'of a person' });
    for (let times = 0; times < 2; times++) {
      const demo = await start({ DATABASE_URL: database.url });
      await demo.ready();
      expect(demo.output).not.toContain('kdp_');
      expect(demo.output).toContain('keys create me');
      expect([await count('api_keys'), await count('attributions')]).toEqual([1, 0]);
      await demo.end();
    }
  });
});

test.each(['indexer', 'api', 'webhooks'])('%s stops with advice where its login is wrong', async (program) => {
  for (const [url, advice] of [
    [wrong((one) => (one.password = 'wrong')), /password authentication failed.*Correct user and password/],
    [wrong((one) => (one.pathname = '/missing')), /database \\"missing\\" does not exist.*Create the database/],
  ] as const) {
    const env = { DATA_DIR: dataDir, DATABASE_URL: url, NODE_URL: 'grpc://127.0.0.1:1', PORT: '0', METRICS_PORT: '0' };
    started = new Started({ command: ['npx', 'kasgres', program], env });
    await started.exited();
    expect(started.output).toMatch(advice);
    expect(started.output).not.toContain('"stack"');
    expect(started.exitCode).toBe(1);
  }
});

test('wrong variables of all programs are named at once, before anything is written', async () => {
  const wrong = {
    PORT: 'first',
    METRICS_HOST: '',
    ON_GAP: 'maybe',
    RETENTION: '5x',
    TRUST_PROXY: 'some',
    LOG_LEVEL: 'loud',
  };
  const named = ['PORT', 'LOG_LEVEL', 'ON_GAP', 'RETENTION', 'TRUST_PROXY'];
  expect(namesIn(await refuse(wrong))).toEqual(named);
  for (const [program, names] of [
    ['indexer', ['NODE_URL', 'ON_GAP', 'DATABASE_URL', 'LOG_LEVEL', 'RETENTION']],
    ['api', ['DATABASE_URL', 'NODE_URL', 'PORT', 'LOG_LEVEL', 'TRUST_PROXY']],
  ] as const) {
    started = new Started({ command: ['npx', 'kasgres', program], env: { DATA_DIR: dataDir, ...wrong } });
    await started.exited();
    expect(started.exitCode).toBe(1);
    expect(namesIn(started.output)).toEqual(names);
  }
});

const namesIn = (output: string): (string | undefined)[] =>
  Array.from(output.matchAll(/^  ([A-Z_]+): /gm), ([, name]) => name);

test('a node that is away is named, with the reason and what to do', async () => {
  const database = await createTestDatabase({ empty: true });
  const port = await freePort();
  const waiting = await start({ DATABASE_URL: database.url, NODE_URL: `grpc://127.0.0.1:${port}` });
  expect(await waiting.line(/^Waiting for the node/)).toMatch(
    new RegExp(`at 127.0.0.1:${port}: the connection is refused. Start kaspad there`),
  );
  await waiting.end();
  await database.drop();
});

import { mkdir, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from './connect.ts';
import { isDatabaseUnavailable, isRetryableDatabaseError } from './errors.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

async function catchError(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  );
}

/** Both classifications of an error. */
function classify(error: unknown): string {
  if (isDatabaseUnavailable(error)) return isRetryableDatabaseError(error) ? 'unavailable' : 'contradiction';
  return isRetryableDatabaseError(error) ? 'retryable' : 'permanent';
}

test('a server that does not listen', async () => {
  const client = new Client({ connectionString: 'postgres://nobody@127.0.0.1:1/nothing' });
  expect(classify(await catchError(client.connect()))).toBe('unavailable');
});

test('a host that cannot be resolved', async () => {
  const client = new Client({ connectionString: 'postgres://nobody@database.invalid/nothing' });
  expect(classify(await catchError(client.connect()))).toBe('unavailable');
});

test('a socket without a server', async () => {
  const client = new Client({ host: join(tmpdir(), 'kasgres-no-server'), database: 'nothing' });
  expect(classify(await catchError(client.connect()))).toBe('unavailable');
});

function systemError(syscall: string, code: string): Error {
  return Object.assign(new Error(`${code}: ${syscall} failed`), { syscall, code });
}

test.each([
  ['connect', 'EACCES'],
  ['connect', 'EPERM'],
  ['connect', 'ENETUNREACH'],
  ['read', 'ECONNRESET'],
  ['read', 'ETIMEDOUT'],
  ['write', 'EPIPE'],
  ['shutdown', 'ENOTCONN'],
])('a socket whose %s fails with %s', (syscall, code) => {
  expect(classify(systemError(syscall, code))).toBe('unavailable');
});

test.each([
  ['write', 'ENOSPC'],
  ['write', 'EDQUOT'],
  ['write', 'EFBIG'],
  ['read', 'EIO'],
  ['fsync', 'EIO'],
  ['ftruncate', 'EROFS'],
])('a file whose %s fails with %s is not the database', (syscall, code) => {
  expect(classify(systemError(syscall, code))).toBe('permanent');
});

test('paths that cannot be used are not the database', async () => {
  const below = join(import.meta.filename, 'below');
  expect(classify(await catchError(mkdir(below)))).toBe('permanent');
  expect(classify(await catchError(open(below)))).toBe('permanent');
  expect(classify(await catchError(readFile(import.meta.dirname)))).toBe('permanent');
});

test('a connection that is terminated during a query', async () => {
  const client = await database.pool.connect();
  client.on('error', () => {});
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const sleeping = catchError(client.query('select pg_sleep(30)'));
  await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  expect(classify(await sleeping)).toBe('unavailable');
  expect(classify(await catchError(client.query('select 1')))).toBe('unavailable');
  client.release(true);
});

test('a pool without a free connection in time', async () => {
  // Long enough for the first connection to be made on a busy machine; the second waits it out.
  const small = connect({ url: database.url, max: 1, applicationName: 'small', connectTimeoutMs: 2_000 });
  const client = await small.pool.connect();
  expect(classify(await catchError(small.pool.query('select 1')))).toBe('unavailable');
  client.release();
  await small.close();
});

test('a server that stops responding', async () => {
  const { pool, close } = connect({ url: database.url, applicationName: 'silent', queryTimeoutMs: 100 });
  expect(classify(await catchError(pool.query('select pg_sleep(1)')))).toBe('unavailable');
  await close();
});

test('a deadlock can be retried', async () => {
  await database.pool.query('create table pairs (n int primary key); insert into pairs values (1), (2)');
  const clients = [await database.pool.connect(), await database.pool.connect()] as const;
  const lock = (client: (typeof clients)[number], n: number) =>
    client.query('update pairs set n = n where n = $1', [n]);
  for (const [index, client] of clients.entries()) {
    await client.query('begin');
    await lock(client, index + 1);
  }
  const outcomes = await Promise.allSettled([lock(clients[0], 2), lock(clients[1], 1)]);
  for (const client of clients) {
    await client.query('rollback');
    client.release();
  }
  const errors = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
  expect(errors.map(classify)).toEqual(['retryable']);
});

test.each([
  ['a mistake in the statement', 'select nothing'],
  ['a constraint', 'insert into meta (network, one_row) values ($$simnet$$, false)'],
  ['a statement over its time limit', 'set statement_timeout = 20; select pg_sleep(1)'],
])('%s is permanent', async (_, statement) => {
  const { pool, close } = connect({ url: database.url, applicationName: 'permanent' });
  expect(classify(await catchError(pool.query(statement)))).toBe('permanent');
  await close();
});

test('errors unrelated to the database', () => {
  expect(classify(new TypeError('x is not a function'))).toBe('permanent');
  expect(classify('a string')).toBe('permanent');
});

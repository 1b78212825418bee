import { once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from './connect.ts';
import { isDatabaseUnavailable, isPoolExhausted } from './errors.ts';
import { TcpProxy } from '../testing/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('64-bit integers come back as bigint, numeric and date as text, bytea as bytes', async () => {
  const { rows } = await sql`
    select 9223372036854775807::bigint as big, '{1,-2,9223372036854775807}'::bigint[] as bigs,
      '{}'::bigint[] as none, 18446744073709551615::numeric as n, '2026-08-21'::date as day,
      '\\x00ff'::bytea as bytes, 7::int as small, null::bigint as nothing`.execute(database.kysely);
  expect(rows).toEqual([
    {
      big: 9223372036854775807n,
      bigs: [1n, -2n, 9223372036854775807n],
      none: [],
      n: '18446744073709551615',
      day: '2026-08-21',
      bytes: Buffer.from([0, 255]),
      small: 7,
      nothing: null,
    },
  ]);
});

test('settings hold for the sessions of the pool', async () => {
  const { pool, close } = connect({
    url: database.url,
    applicationName: 'a name',
    statementTimeoutMs: 1234,
    settings: { work_mem: '7MB', search_path: 'public, pg_catalog' },
  });
  const { rows } = await pool.query(`
    select current_setting('work_mem') as work_mem, current_setting('search_path') as search_path,
      current_setting('jit') as jit, current_setting('statement_timeout') as statement_timeout,
      current_setting('application_name') as application_name`);
  expect(rows).toEqual([
    {
      work_mem: '7MB',
      search_path: 'public, pg_catalog',
      jit: 'off',
      statement_timeout: '1234ms',
      application_name: 'a name',
    },
  ]);
  await close();
});

test('a connection that breaks fails only its query, and is replaced', async () => {
  const { pool, kysely, close } = connect({ url: database.url, max: 1, applicationName: 'breaks' });
  const sleeping = sql`select pg_sleep(30)`.execute(kysely);
  const failed = expect(sleeping).rejects.toSatisfy(isDatabaseUnavailable);
  await expect
    .poll(async () => (await database.pool.query(TERMINATE, ['breaks'])).rowCount, { timeout: 10_000 })
    .toBe(1);
  await failed;
  await expect.poll(() => pool.query('select 1').then(({ rowCount }) => rowCount)).toBe(1);
  await close();
});

const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = $1 and state = 'active'`;

test('a connection that stops responding fails its query, and is replaced', async () => {
  const { pool, close } = connect({ url: database.url, max: 1, applicationName: 'silent', queryTimeoutMs: 300 });
  await expect(pool.query('select pg_sleep(30)')).rejects.toSatisfy(isDatabaseUnavailable);
  expect((await pool.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await close();
});

test.each([{ queryTimeoutMs: 300 }, { askAfterSilenceMs: 300, pipeline: true }, { pipeline: true }])(
  'a new connection that stops responding fails its query, and is not waited for (%o)',
  async (limits) => {
    const proxy = await TcpProxy.start(database.url, 'transaction_timeout');
    const { pool, close } = connect({
      url: proxy.url,
      applicationName: 'silent at first',
      connectTimeoutMs: 300,
      ...limits,
    });
    const query = pool.query('select 1');
    query.catch(() => undefined);
    await once(proxy.server, 'connection');
    const closed = close();
    await expect(query).rejects.toSatisfy(isDatabaseUnavailable);
    await closed;
    proxy.stop();
  },
);

test.each(['select 1', 'select 1 / 0'])(
  'a connection that is returned within a transaction (%s) is closed',
  async (statement) => {
    const { pool, close } = connect({ url: database.url, max: 1, applicationName: 'within a transaction' });
    const client = await pool.connect();
    await client.query('begin');
    await client.query(statement).catch(() => undefined);
    client.release();
    const { rows } = await pool.query<{ time: number }>('select extract(epoch from now())::float8 as time');
    const later = await pool.query<{ time: number }>('select extract(epoch from now())::float8 as time');
    expect(later.rows[0]?.time).toBeGreaterThan(rows[0]?.time ?? Number.POSITIVE_INFINITY);
    await close();
  },
);

test('an idle connection is not timed out', async () => {
  const { pool, close } = connect({ url: database.url, max: 1, applicationName: 'idle', queryTimeoutMs: 300 });
  const backend = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const before = await backend();
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(await backend()).toBe(before);
  await close();
});

test('a query that gets no connection in time reports it', async () => {
  const { pool, close } = connect({ url: database.url, max: 1, applicationName: 'full', connectTimeoutMs: 300 });
  const sleeping = pool.query('select pg_sleep(1)');
  await expect(pool.query('select 1')).rejects.toSatisfy(isPoolExhausted);
  await sleeping;
  await close();
});

test('without a limit, a query waits for a connection', async () => {
  const { pool, close } = connect({ url: database.url, max: 1, applicationName: 'patient', connectTimeoutMs: 0 });
  const sleeping = pool.query('select pg_sleep(0.3)');
  expect((await pool.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await sleeping;
  await close();
});

test('a query behind too many others fails at once', async () => {
  const { pool, kysely, close } = connect({ url: database.url, max: 1, applicationName: 'line', maxWaiting: 2 });
  let finished = 0;
  const slow = Array.from({ length: 3 }, () => pool.query('select pg_sleep(0.3)').then(() => (finished += 1)));
  for (const query of [pool.query('select 1'), sql`select 1`.execute(kysely), pool.connect()]) {
    await expect(query).rejects.toSatisfy((error) => isPoolExhausted(error) && isDatabaseUnavailable(error));
  }
  expect(finished).toBe(0);
  await Promise.all(slow);
  expect((await pool.query('select 1')).rowCount).toBe(1);
  await close();
});

test('closing ends the pool, also one that Kysely never used', async () => {
  const { pool, close } = connect({ url: database.url, applicationName: 'closed' });
  await pool.query('select 1');
  await close();
  expect(pool.ended).toBe(true);
});

/** Windows of rate limits in the database: charges of several processes, and refunds. */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { QueryResult } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openRateLimitDatabase } from '../../packages/api/src/limits/connections.ts';
import { PostgresWindows } from '../../packages/api/src/limits/postgres-windows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => database.drop());

const LIMIT = { hundredths: 100_000, seconds: 3600 };
const fail = (error: unknown): never => {
  throw error;
};
const newWindows = () => new PostgresWindows(database.pool, fail);

async function pointsOf(key: string): Promise<number> {
  const { rows } = await database.pool.query<{ points: bigint }>('select points from rate_limits where key = $1', [
    key,
  ]);
  return Number(rows[0]?.points);
}

test('it refunds thousands of charges in a few statements', async () => {
  const windows = newWindows();
  const buckets = ['a', 'b'];
  const begun = new Map<string, number>();
  for (const bucket of buckets) {
    const { window } = await windows.charge(bucket, LIMIT, 50_000);
    begun.set(bucket, window);
  }
  const query = vi.spyOn(database.pool, 'query');
  for (let count = 0; count < 10_000; count += 1) {
    for (const bucket of buckets) windows.refund(bucket, begun.get(bucket) as number, 4);
  }
  // It goes out before what is charged after it.
  const { remaining } = await windows.charge('a', LIMIT, 1);
  expect(remaining).toBe(LIMIT.hundredths - 50_000 + 40_000 - 1);
  expect(query.mock.calls.length).toBeLessThanOrEqual(4);
  expect(await pointsOf('b')).toBe(10_000);
});

test('it grants exactly what fits to processes that charge at the same time', async () => {
  const processes = [newWindows(), newWindows(), newWindows()];
  for (let round = 0; round < 20; round += 1) {
    const states = await Promise.all(
      processes.flatMap((windows) =>
        Array.from({ length: 30 }, () => windows.charge(`round ${round}`, { hundredths: 205, seconds: 3600 }, 10)),
      ),
    );
    expect(states.filter(({ charged }) => charged)).toHaveLength(20);
    expect(await pointsOf(`round ${round}`)).toBe(200);
  }
});

test('it grants the charges that fit, and refunds the rest', async () => {
  const windows = newWindows();
  const limit = { hundredths: 100, seconds: 3600 };
  const states = await Promise.all([40, 70, 30, 50, 20].map((cost) => windows.charge('mixed', limit, cost)));
  expect(states.map(({ charged, remaining }) => [charged, remaining])).toEqual([
    [true, 60],
    [false, 60],
    [true, 30],
    [false, 30],
    [true, 10],
  ]);
  await expect.poll(() => pointsOf('mixed')).toBe(90);
  expect(await windows.charge('mixed', { ...limit, hundredths: 50 }, 20)).toMatchObject({ charged: false });
});

test('it does not refund to another window', async () => {
  const windows = newWindows();
  const { window } = await windows.charge('c', LIMIT, 500);
  windows.refund('c', window - 1, 300);
  windows.refund('d', window, 300);
  windows.refund('c', window, 100);
  await windows.charge('e', LIMIT, 1);
  expect(await pointsOf('c')).toBe(400);
});

/** Charges and gives back again and again, buckets in a separate order. */
async function work(windows: PostgresWindows, order: readonly string[]): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const states = await Promise.all(order.map((bucket) => windows.charge(bucket, LIMIT, 3)));
    for (const [index, { window }] of states.entries()) windows.refund(order[index] as string, window, 2);
  }
  await windows.charge('last', LIMIT, 1);
}

test('it never deadlocks processes that charge and refund in any order', async () => {
  const processes = [newWindows(), newWindows(), newWindows()];
  const buckets = Array.from({ length: 50 }, (_, number) => `bucket ${number}`);
  const orders = [buckets, buckets.toReversed(), buckets.toSorted()];
  await Promise.all(processes.map((windows, index) => work(windows, orders[index] as string[])));
  for (const bucket of buckets) expect(await pointsOf(bucket)).toBe(3 * 20);
});

test('a window of a second does not last an hour because the clock was set back by an hour', async () => {
  const windows = newWindows();
  const limit = { hundredths: 100, seconds: 1 };
  expect(await windows.charge('set back', limit, 100)).toMatchObject({ charged: true });
  await database.pool.query("update rate_limits set expire = expire + 3600000 where key = 'set back'");
  // Another process, which has nothing in memory.
  expect(await newWindows().charge('set back', limit, 100)).toMatchObject({ charged: true, remaining: 0 });
  const { charged, endsInMs } = await newWindows().charge('set back', limit, 100);
  expect([charged, endsInMs <= 1000]).toEqual([false, true]);
});

test('its plan, which is made while the table has hardly a row, does not scan the table', async () => {
  const { pool, close } = openRateLimitDatabase({ url: database.url, onIdleError: () => undefined });
  const client = await pool.connect();
  try {
    await client.query('truncate rate_limits');
    await newWindows().charge('first', LIMIT, 1);
    await client.query('analyze rate_limits');
    // All statements of one session.
    const session = { query: client.query.bind(client) } as unknown as typeof pool;
    await new PostgresWindows(session, fail).charge('planned', LIMIT, 1);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain execute "charge rate limits" ('{planned}', '{1}', '{1}', '{1}', '{1000}')`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using rate_limits_pkey');
    expect(plan).not.toContain('Seq Scan');
  } finally {
    client.release();
    await close();
  }
});

test('rows of windows that closed more than a minute ago go with a later charge, in portions', async () => {
  const windows = newWindows();
  await database.pool.query(
    `insert into rate_limits (key, points, expire) select 'closed ' || n, 1, 1 from generate_series(1, 25000) n`,
  );
  const query = vi.spyOn(database.pool, 'query');
  const later = performance.now() + 61_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later);
  await windows.charge('open', LIMIT, 1);
  clock.mockRestore();
  await expect.poll(() => pointsOf('closed 25000')).toBeNaN();
  const { rows } = await database.pool.query(`select from rate_limits where key like 'closed %'`);
  expect(rows).toHaveLength(0);
  const results = await Promise.all(query.mock.results.map(({ value }) => value as Promise<QueryResult>));
  const deleted = results.flatMap(({ command, rowCount }) => (command === 'DELETE' ? rowCount : []));
  expect(deleted).toEqual([10_000, 10_000, 5000]);
  expect(await pointsOf('open')).toBe(1);
});

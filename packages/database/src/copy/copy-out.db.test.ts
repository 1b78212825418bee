import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../connection/in-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { copyOut } from './copy-out.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});

afterAll(async () => {
  await database.drop();
});

function ignore(): void {}

function never(): void {
  throw new Error('There is no row');
}

/** Copies in a transaction, as an export does, on a connection of the pool. */
async function copy(...[query, onField, onRow]: Tail<Parameters<typeof copyOut>>): Promise<number> {
  const client = await database.pool.connect();
  try {
    return await inTransaction(client, () => copyOut(client, query, onField, onRow));
  } finally {
    client.release();
  }
}

type Tail<List> = List extends [unknown, ...infer Rest] ? Rest : never;

test('it reads rows larger than a chunk, and no rows', async () => {
  const read: string[] = [];
  const query = `select x from (values (repeat('ł', 3000000)), ('short')) v (x)`;
  await copy(query, (_, bytes) => read.push(String(bytes)), ignore);
  expect(read).toEqual(['ł'.repeat(3_000_000), 'short']);
  const rows = await copy('select i, null, i::text from generate_series(1, 100000) i', ignore, ignore);
  expect(rows).toBe(100_000);
  expect(await copy('select 1 where false', never, never)).toBe(0);
});

test('it reports an error of the query, and the connection stays usable', async () => {
  const client = await database.pool.connect();
  const query = 'select 1 / (100000 - i) from generate_series(1, 100000) i';
  await expect(copyOut(client, query, ignore, ignore)).rejects.toThrow('division by zero');
  expect(await copyOut(client, 'select 1', ignore, ignore)).toBe(1);
  client.release();
});

test('it reports an error of the reader, ends the transaction, and the pool drops the connection', async () => {
  const { pool } = database;
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(pool.totalCount).toBe(1);
  await expect(copy('select i from generate_series(1, 1000000) i', ignore, never)).rejects.toThrow('There is no row');
  expect(pool.totalCount).toBe(0);
  await expect
    .poll(() => pool.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid]), { timeout: 10_000 })
    .toMatchObject({ rowCount: 0 });
});

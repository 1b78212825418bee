import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sql } from 'kysely';
import type { PoolClient } from 'pg';
import { commit, UnknownCommitError } from './commit.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
const clients: PoolClient[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  database.pool.on('connect', (client) => clients.push(client));
  await database.pool.query('create table kept (value text)');
});
afterEach(() => database.pool.query('drop function if exists at_commit cascade; truncate kept'));
afterAll(() => database.drop());

const keep = (value: string, failure?: Error) =>
  commit(database.kysely, async (transaction) => {
    await sql`insert into kept values (${value})`.execute(transaction);
    if (failure !== undefined) throw failure;
  });

async function kept(): Promise<string[]> {
  const { rows } = await database.pool.query<{ value: string }>('select value from kept');
  return rows.map(({ value }) => value);
}

/** Runs at the commit of each transaction that keeps something. */
async function doAtCommit(statement: string): Promise<void> {
  await database.pool.query(
    `create function at_commit() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$;
     create constraint trigger at_commit after insert on kept deferrable initially deferred
       for each row execute function at_commit()`,
  );
}

const isAtCommit = async (): Promise<number> =>
  (
    await database.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
    )
  ).rowCount ?? 0;

test('a committed transaction reports success', async () => {
  await keep('a');
  expect(await kept()).toEqual(['a']);
});

test('a failed transaction is rolled back and reported as such', async () => {
  const failing = keep('a', new Error('thought better of it'));
  await expect(failing).rejects.toThrow('thought better of it');
  expect(await kept()).toEqual([]);
});

test('a commit that the server terminated is reported as not committed', async () => {
  await doAtCommit('perform pg_terminate_backend(pg_backend_pid()), pg_sleep(1)');
  const error = await keep('a').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnknownCommitError);
  expect(await (error as UnknownCommitError).hasCommitted()).toBe(false);
});

test('it knows that a commit whose response was lost has succeeded', async () => {
  await doAtCommit('perform pg_sleep(2)');
  const keeping = keep('a').catch((thrown: unknown) => thrown);
  await expect.poll(isAtCommit).toBe(1);
  // The server notices the lost connection when it responds.
  for (const client of clients) client.connection.stream.destroy();
  const error = await keeping;
  expect(error).toBeInstanceOf(UnknownCommitError);
  const { hasCommitted } = error as UnknownCommitError;
  await expect(hasCommitted()).rejects.toThrow('still in progress');
  await expect.poll(() => hasCommitted().catch(() => undefined), { timeout: 10_000 }).toBe(true);
  expect(await kept()).toEqual(['a']);
});

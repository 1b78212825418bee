/**
 * A standby cancels a read that conflicts with its replay: the API repeats it once, on the later
 * state.
 */
import { type Connection, connect, type Database, migrate } from '@kasgres/database';
import { startReplicatedPostgres } from '@kasgres/database/testing';
import { toHttpError } from '@kasgres/api';
import { IndexReader } from '@kasgres/reads';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const SOON = { timeout: 60_000 };
/** Far above the time of a conflict, so that failed tests end, too. */
const LONG_SECONDS = 60;

const closing: (() => Promise<void>)[] = [];
let primary: Connection;
let standby: Connection;
let index: IndexReader;

beforeAll(async () => {
  const postgres = await startReplicatedPostgres({ standbySettings: { max_standby_streaming_delay: '0' } });
  closing.push(postgres.stop);
  await migrate(postgres.primaryUrl);
  primary = connect({ url: postgres.primaryUrl, applicationName: 'kasgres test' });
  closing.push(primary.close);
  standby = connect({ url: postgres.standbyUrl, applicationName: 'kasgres test' });
  closing.push(standby.close);
  index = new IndexReader(standby);
  await primary.pool.query('create table scratch (id int)');
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});
beforeEach(async () => {
  await primary.pool.query('insert into scratch select generate_series(1, 100)');
  await expect.poll(() => countRows(standby.kysely), SOON).toBe(100);
});

async function countRows(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from scratch`.execute(db);
  return Number(rows[0]?.count);
}

/** Permanently removes rows that the snapshots of running reads still have. */
async function removeRows(): Promise<void> {
  await primary.pool.query('delete from scratch');
  // Truncating the empty file would lock the table for the next read as well.
  await primary.pool.query('vacuum (truncate false) scratch');
}

/** Runs a statement that only a conflict ends, while the rows are removed. */
async function sleepUntilInterrupted(db: Kysely<Database>): Promise<void> {
  const removal = expect.poll(countSleeping, SOON).toBe(1).then(removeRows);
  try {
    await sql`select pg_sleep(${LONG_SECONDS})`.execute(db);
  } finally {
    await removal;
  }
}

async function countSleeping(): Promise<number | null> {
  return (await standby.pool.query(`select from pg_stat_activity where wait_event = 'PgSleep'`)).rowCount;
}

test('a read with a cancelled statement is repeated on the later state', async () => {
  const seen: number[] = [];
  const result = await index.readIfAny(async (db) => {
    seen.push(await countRows(db));
    if (seen.length > 1) return 'made again';
    await sleepUntilInterrupted(db);
    return 'not interrupted';
  });
  expect({ result, seen }).toEqual({ result: 'made again', seen: [100, 0] });
});

test('a read whose connection is closed between two statements is repeated on the later state', async () => {
  const seen: number[] = [];
  const result = await index.readIfAny(async (db) => {
    seen.push(await countRows(db));
    if (seen.length > 1) return 'made again';
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
    await removeRows();
    await expect.poll(() => isConnected(rows[0]?.pid), SOON).toBe(false);
    await countRows(db);
    return 'not interrupted';
  });
  expect({ result, seen }).toEqual({ result: 'made again', seen: [100, 0] });
});

async function isConnected(pid: number | undefined): Promise<boolean> {
  const { rowCount } = await standby.pool.query('select from pg_stat_activity where pid = $1', [pid]);
  return rowCount !== 0;
}

test('a read that is interrupted twice gets a 503 with Retry-After', async () => {
  let tries = 0;
  const read = index.readIfAny(async (db) => {
    tries += 1;
    // The snapshot of this attempt has these rows, too.
    await primary.pool.query('insert into scratch values (0)');
    await sleepUntilInterrupted(db);
  });
  const failure: unknown = await read.catch((error: unknown) => error);
  expect(tries).toBe(2);
  expect(toHttpError(failure)).toMatchObject({
    statusCode: 503,
    message: 'The database was interrupted',
    retryAfterSeconds: 2,
  });
});

test('refused reads, and errors other than outages, are not repeated', async () => {
  let tries = 0;
  const read = index.readIfAny(async () => {
    tries += 1;
    throw new TypeError('a bug');
  });
  await expect(read).rejects.toThrow('a bug');
  expect(tries).toBe(1);
});

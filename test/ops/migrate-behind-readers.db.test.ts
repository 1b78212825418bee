/**
 * A migration needs a table that somebody reads for long: the API serves on, the migration names
 * the session, ends it if it may, and gets its turn.
 */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BlockingSession, createKey, migrate } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { createHarness, untilAtRest } from '../support/harness.ts';
import { startApi, startIndexer } from '../support/programs.ts';
import { followToTheTip } from '../simulation/bootstraps-harness.ts';

const MIGRATIONS = join(import.meta.dirname, '../../migrations');
const ROLES_SQL = join(import.meta.dirname, '../../ops/roles.sql');
const suffix = randomBytes(6).toString('hex');

vi.setConfig({ testTimeout: 120_000 });

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** Returns a folder with the migrations and one more. */
async function nextMigration(sql: string): Promise<{ name: string; directory: URL }> {
  const folder = await mkdtemp(join(tmpdir(), 'kasgres-migrations-'));
  cleanUp.push(() => rm(folder, { recursive: true }));
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql'));
  for (const file of files) await copyFile(join(MIGRATIONS, file), join(folder, file));
  const name = `${String(files.length + 1).padStart(4, '0')}_next`;
  await writeFile(join(folder, `${name}.sql`), sql);
  return { name, directory: pathToFileURL(`${folder}/`) };
}

/**
 * Opens a session of a separate login, which reads until it is cancelled. Returns the SQLSTATE that
 * ended it.
 */
async function readForLong(url: string, login: string, sql: string): Promise<{ pid: number; ended: Promise<string> }> {
  const address = new URL(url);
  address.username = login;
  address.password = suffix;
  const client = new Client({ connectionString: address.toString(), application_name: 'a long report' });
  client.on('error', () => undefined);
  await client.connect();
  cleanUp.push(() => client.end().catch(() => undefined));
  const { rows } = await client
    .query<{ pid: number }>('set statement_timeout = 0; select pg_backend_pid() as pid')
    .then((results) => (results as unknown as { rows: { pid: number }[] }[])[1] ?? { rows: [] });
  const ended = client.query(sql).then(
    () => 'done',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
  return { pid: rows[0]?.pid ?? 0, ended };
}

test('it serves the API while a migration waits for a long query of an analyst, names it and then ends it', async () => {
  const { simulatedDag, database, node } = await createHarness('a migration behind an analyst');
  simulatedDag.mine(30);
  await followToTheTip({ simulatedDag, database, node });
  const login = `analyst_${suffix}`;
  await database.pool.query(
    `select admit_analysts(); create role ${login} login password '${suffix}' in role kasgres_analyst`,
  );
  cleanUp.push(() => database.pool.query(`drop role ${login}`));
  const { key } = await createKey(database.kysely, { name: 'test' });
  const { program, url } = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
  cleanUp.push(() => program.stop());
  const api = new ApiClient(url, key);
  const { pid, ended } = await readForLong(database.url, login, 'select pg_sleep(3600)   from kaspa.blocks limit 1');

  const { name, directory } = await nextMigration('alter table blocks add column next integer');
  const met: { blocking: readonly BlockingSession[]; ended: readonly BlockingSession[] }[] = [];
  const options = {
    directory,
    onBlocked: (blocking: readonly BlockingSession[], those: readonly BlockingSession[]) =>
      void met.push({ blocking, ended: those }),
  };
  const migrating = migrate(database.url, { ...options, waitMs: 6_000 });
  migrating.catch(() => undefined);
  const slowest = { milliseconds: 0 };
  const statuses = new Set<number>();
  while ((await Promise.race([migrating.catch(() => 'over'), sleep(20)])) === undefined) {
    const startedAt = performance.now();
    statuses.add((await api.request('/v1/blocks?limit=1')).status);
    slowest.milliseconds = Math.max(slowest.milliseconds, performance.now() - startedAt);
  }
  expect([...statuses]).toEqual([200]);
  // A second behind the migration, and what a busy machine adds.
  expect(slowest.milliseconds).toBeLessThan(5_000);
  await expect(migrating).rejects.toThrow(
    new RegExp(
      `Migration ${name} was rolled back\\. .* session ${pid} \\(${login}, a long report, analyst\\), its transaction open for \\d+ s: ` +
        'select pg_sleep\\(3600\\) from kaspa\\.blocks limit 1\\. .*--end-blocking-sessions',
    ),
  );
  expect(met.length).toBeGreaterThan(1);
  expect(met.flatMap((attempt) => attempt.ended)).toEqual([]);

  expect(await migrate(database.url, { ...options, endSessions: 'analysts' })).toEqual([name]);
  expect(await ended).toBe('57P01');
  expect(met.at(-1)?.ended.map((session) => session.pid)).toEqual([pid]);
  expect((await api.request('/v1/blocks?limit=1')).status).toBe(200);
});

test('it ends the sessions of analysts if told to, and all others only if told so', async () => {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  const logins = [`report_${suffix}`, `analyst_${suffix}`] as const;
  for (const login of logins) {
    await database.pool.query(`create role ${login} login password '${suffix}'; grant select on balances to ${login}`);
    cleanUp.push(() => database.pool.query(`revoke all on balances from ${login}; drop role ${login}`));
  }
  // Another database of the server may have made the role.
  await database.pool.query(
    `do $$ begin create role kasgres_analyst; exception when duplicate_object or unique_violation then null; end $$;
     grant kasgres_analyst to ${logins[1]}`,
  );
  const [report, analyst] = await Promise.all(
    logins.map((login) => readForLong(database.url, login, 'select pg_sleep(3600), count(*) from balances')),
  );
  const { name, directory } = await nextMigration('alter table balances add column next integer');

  await expect(migrate(database.url, { directory, endSessions: 'analysts', waitMs: 3_000 })).rejects.toThrow(
    new RegExp(`was rolled back\\. .* session ${report?.pid} \\(report_\\w+, a long report`),
  );
  expect(await analyst?.ended).toBe('57P01');
  expect(await Promise.race([report?.ended, sleep(100)])).toBeUndefined();

  expect(await migrate(database.url, { directory, endSessions: 'all' })).toEqual([name]);
  expect(await report?.ended).toBe('57P01');
});

test.each(['seen_before', 'previous_balance_changes'])(
  'it waits for readers at the start of the first catch-up and for readers of %s at its end',
  async (table) => {
    const { simulatedDag, database, node } = await createHarness('readers of what a first catch-up changes');
    simulatedDag.mine(30);
    const reader = new Client({ connectionString: database.url, application_name: 'a reader' });
    await reader.connect();
    cleanUp.push(() => reader.end());
    // Its indexes are dropped at the beginning.
    await reader.query('begin; select from utxos');
    const indexer = startIndexer({ nodeUrl: simulatedDag.server.url, databaseUrl: database.url });
    cleanUp.push(() => indexer.stop());
    let slowestMs = 0;
    const readUntilItSays = async (words: string): Promise<void> => {
      while (!indexer.output().includes(words)) {
        expect(indexer.isRunning(), indexer.output()).toBe(true);
        const startedAt = performance.now();
        await database.pool.query(`select from utxos, ${table} limit 1`);
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        await sleep(50);
      }
    };
    await readUntilItSays('canceling statement due to lock timeout');
    // It is emptied at the end, with the UTXOs.
    await reader.query(`commit; begin; select from ${table}`);
    await readUntilItSays('waiting for readers of the tables of balances');
    // A second behind the indexer, and what a busy machine adds.
    expect(slowestMs).toBeLessThan(5_000);
    expect(indexer.output()).toMatch(
      new RegExp(
        String.raw`"sessions":"session \d+ \(kasgres, a reader\), its transaction open for \d+ s: commit; begin; select from ${table}`,
      ),
    );
    await reader.query('commit');
    await untilAtRest(database.pool, node, indexer);
  },
);

test('it gives up in ops/roles.sql when a table is in use, and locks no table that has its owner already', async () => {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  const sql = await readFile(ROLES_SQL, 'utf8');
  const reader = await database.pool.connect();
  try {
    await reader.query('begin; select from blocks');
    await expect(database.pool.query(sql)).rejects.toMatchObject({ code: '55P03' });
    await reader.query('rollback');
    await database.pool.query(sql);
    await reader.query('begin; select from blocks');
    await database.pool.query(sql);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
});

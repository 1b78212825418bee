/**
 * A backup that is restored is an older state of the database: the indexer continues from the
 * checkpoint in it, through what the network has done since, and the index is what a fresh one is.
 * The dump is skipped where no pg_dump is as new as the server.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const run = promisify(execFile);

let restored: TestDatabase;
afterEach(async () => await restored?.drop());

/** 0 where there is none. */
async function findDumpVersion(): Promise<number> {
  try {
    const { stdout } = await run('pg_dump', ['--version']);
    return Number(/ (\d+)/.exec(stdout)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function getServerVersion(database: TestDatabase): Promise<number> {
  const { rows } = await database.pool.query<{ version: number }>(
    `select current_setting('server_version_num')::integer / 10000 as version`,
  );
  return rows[0]?.version ?? 0;
}

async function dumpAndRestore(from: TestDatabase, to: TestDatabase): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-dump-'));
  try {
    const file = join(directory, 'kasgres.dump');
    await run('pg_dump', ['--format=custom', `--file=${file}`, from.url]);
    await run('pg_restore', ['--exit-on-error', `--dbname=${to.url}`, file]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Its files, as a base backup or a snapshot of the disk has them. Postgres copies a database that
 * nobody is connected to.
 */
async function copyFiles(from: TestDatabase, to: TestDatabase): Promise<void> {
  const [source, target] = [from, to].map(({ url }) => new URL(url).pathname.slice(1));
  const server = new URL(from.url);
  server.pathname = '/postgres';
  const client = new Client({ connectionString: server.toString() });
  await client.connect();
  try {
    await client.query(`drop database ${target}`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [source]);
    await client.query(`create database ${target} template ${source}`);
  } finally {
    await client.end();
  }
}

test.for([
  ['dump', dumpAndRestore],
  ['copy of the files', copyFiles],
] as const)('it resumes indexing after a restore from a %s', { timeout: 180_000 }, async ([name, copy], { skip }) => {
  const harness = await createHarness(`restored ${name}`);
  const { simulatedDag, database, node } = harness;
  if (copy === dumpAndRestore && (await findDumpVersion()) < (await getServerVersion(database))) {
    skip('no pg_dump that is as new as the server on the PATH (apt-get install postgresql-client)');
  }
  simulatedDag.mine(40);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  simulatedDag.mine(30);
  // A dump is made while the indexer writes; its files can be copied in peace alone.
  if (copy === copyFiles) await indexer.stop();
  restored = await createTestDatabase({ empty: true });
  await copy(database, restored);
  if (copy !== copyFiles) await indexer.stop();

  simulatedDag.mine(60);
  const successor = startIndexing(simulatedDag, restored.url);
  await atRest(restored, node, successor);
  await successor.stop();
  await expectRight({ ...harness, database: restored });
  expect((await restored.pool.query('select from migrations')).rowCount).toBeGreaterThan(0);
});

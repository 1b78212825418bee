/**
 * Databases of earlier versions are migrated, and `kasgres migrate --check` says before whether
 * they can be.
 */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { migrate } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = globSync('*.sql.gz', { cwd: import.meta.dirname });
const exec = promisify(execFile);
const applied = z.array(z.object({ number: z.number(), name: z.string(), checksum: z.string() }));

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
});
afterEach(() => database.drop());

async function kasgres(...parameters: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, DATABASE_URL: database.url };
  return await exec(process.execPath, [join(ROOT, 'packages/cli/bin/kasgres.js'), ...parameters], { env }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, output: stdout + stderr }),
  );
}

async function restore(fixture: string): Promise<void> {
  const text = gunzipSync(readFileSync(join(import.meta.dirname, fixture))).toString();
  const end = text.indexOf('\n');
  const recorded = applied.parse(JSON.parse(text.slice(3, end)));
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-upgrade-'));
  for (const { name } of recorded) await cp(join(ROOT, `migrations/${name}.sql`), join(directory, `${name}.sql`));
  await migrate(database.url, { directory: pathToFileURL(`${directory}/`) });
  await rm(directory, { recursive: true });
  const { rows } = await database.pool.query('select number, name, checksum from migrations order by number');
  expect(rows, 'a released migration was changed (docs/versions.md): write a new one').toEqual(recorded);
  await database.pool.query(text.slice(end));
}

test.each(FIXTURES)('a database of %s is migrated and verified', async (fixture) => {
  await restore(fixture);
  const { code, output } = await kasgres('migrate', '--check');
  expect([0, 2], output).toContain(code);
  expect(await kasgres('migrate')).toMatchObject({ code: 0 });
  expect(await kasgres('migrate', '--check')).toEqual({ code: 0, output: 'The schema is up to date.\n' });

  const verified = await kasgres('verify');
  expect(verified.output).not.toMatch(/BROKEN|skipped/);
  expect(verified).toMatchObject({ code: 0, output: expect.stringContaining('holds') as string });
  const { rows } = await database.pool.query<Record<string, bigint>>(`
    select (select count(*) from kaspa.blocks) as blocks,
      (select count(*) from kaspa.transactions) as transactions,
           (select count(*) from kaspa.addresses where tag is not null) as tagged,
             (select count(*) from clusters) as clusters`);
  for (const count of Object.values(rows[0] ?? {})) expect(count).toBeGreaterThan(2n);
});

test('there is a database of the first version that can be upgraded', () => {
  expect(FIXTURES.map((path) => basename(path))).toContain('0.2.0.sql.gz');
});

describe('migrate --check', () => {
  test('says what migrate would apply to an empty database, and changes nothing', async () => {
    expect(await kasgres('migrate', '--check')).toEqual({
      code: 2,
      output: expect.stringMatching(/^Version \S+ would apply 0001_schema\b/) as string,
    });
    const { rows } = await database.pool.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
    expect(rows).toEqual([]);
  });

  test.each([
    ['of 0.1.0', `(1, '0001_initial', '')`, 'which cannot be migrated. Index again into an empty database'],
    ['with a changed migration', `(1, '0001_schema', '')`, 'was applied to this database with a different content'],
    ['of a newer version', `(99, '0099_future', '')`, 'schema is newer than this program'],
  ])('says why a database %s cannot be migrated', async (_, row, message) => {
    await database.pool.query(
      `create table migrations (number int, name text, checksum text); insert into migrations values ${row}`,
    );
    expect(await kasgres('migrate', '--check')).toEqual({
      code: 1,
      output: expect.stringContaining(message) as string,
    });
  });
});

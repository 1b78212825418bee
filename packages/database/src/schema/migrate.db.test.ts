import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SchemaError } from '../connection/errors.ts';
import { checkSchema, migrate } from './migrate.ts';
import { readMigrations } from './migrations.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
let folder: string;
let directory: URL;
beforeEach(async () => {
  database = await createTestDatabase({ empty: true });
  folder = await mkdtemp(join(tmpdir(), 'kasgres-migrations-'));
  directory = pathToFileURL(`${folder}/`);
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

async function writeMigration(name: string, sql: string): Promise<void> {
  await writeFile(join(folder, `${name}.sql`), sql);
}

async function countRows(table: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? 0;
}

test('ten migrators that race apply each migration once', async () => {
  await writeMigration('0001_counted', 'create table counted (n int); insert into counted values (1)');
  await writeMigration('0002_more', 'select pg_sleep(0.05); insert into counted values (2)');
  const applied = await Promise.all(Array.from({ length: 10 }, async () => await migrate(database.url, { directory })));
  expect(applied.flat().sort()).toEqual(['0001_counted', '0002_more']);
  expect(await countRows('counted')).toBe(2);
});

test('the migrations of the repository apply, by a pool too, and then there is nothing to do', async () => {
  const names = (await readMigrations()).map(({ name }) => name);
  expect(await migrate(database.pool)).toEqual(names);
  expect(await migrate(database.url)).toEqual([]);
  await checkSchema(database.pool);
});

test('only a new migration is applied', async () => {
  await writeMigration('0001_first', 'create table first (n int)');
  await migrate(database.url, { directory });
  await writeMigration('0002_second', 'create table second (n int)');
  const heard: string[] = [];
  await migrate(database.url, { directory, onMigration: (name) => heard.push(name) });
  expect(heard).toEqual(['0002_second']);
});

test('a failed migration leaves no changes, and earlier ones stay', async () => {
  await writeMigration('0001_good', 'create table good (n int)');
  await writeMigration('0002_bad', 'create table bad (n int); select 1 / 0');
  await expect(migrate(database.url, { directory })).rejects.toThrow(
    /^Migration 0002_bad failed and was rolled back: .+\.$/,
  );
  const { rows } = await database.pool.query(`select to_regclass('good') as good, to_regclass('bad') as bad`);
  expect(rows).toEqual([{ good: 'good', bad: null }]);
  await writeMigration('0002_bad', 'create table bad (n int)');
  expect(await migrate(database.url, { directory })).toEqual(['0002_bad']);
});

test('a database without the schema is refused with the command to migrate', async () => {
  await expect(checkSchema(database.pool)).rejects.toThrow(SchemaError);
  await expect(checkSchema(database.pool)).rejects.toThrow('no Kasgres schema yet. Run `kasgres migrate` first.');
});

test('an older schema is refused with the command to migrate', async () => {
  await writeMigration('0001_first', 'create table first (n int)');
  await migrate(database.url, { directory });
  await writeMigration('0002_second', 'create table second (n int)');
  await expect(checkSchema(database.pool, directory)).rejects.toThrow(
    'older than this program: 1 of 2 migrations are applied, 0002_second comes next',
  );
});

test('a schema of an earlier version is refused by programs and by migrate, with what to do', async () => {
  await writeMigration('0001_initial', 'create table first (n int)');
  await writeMigration('0002_listings', 'create table second (n int)');
  await migrate(database.url, { directory });
  const words = 'earlier version (0001_initial), which cannot be migrated. Index again into an empty database';
  await expect(checkSchema(database.pool)).rejects.toThrow(words);
  await expect(migrate(database.url)).rejects.toThrow(words);
});

test('a newer schema is refused by programs and by migrate', async () => {
  await writeMigration('0001_first', 'create table first (n int)');
  await writeMigration('0002_second', 'create table second (n int)');
  await migrate(database.url, { directory });
  await rm(join(folder, '0002_second.sql'));
  const words = 'newer than this program: it has migration 2, this program knows 1';
  await expect(checkSchema(database.pool, directory)).rejects.toThrow(words);
  await expect(migrate(database.url, { directory })).rejects.toThrow(words);
});

test('a migration that changed after it was applied is refused, except for line endings', async () => {
  await writeMigration('0001_first', 'create table first (n int);\n');
  await migrate(database.url, { directory });
  await writeMigration('0001_first', 'create table first (n int);\r\n');
  expect(await migrate(database.url, { directory })).toEqual([]);
  await writeMigration('0001_first', 'create table first (n bigint);\n');
  await expect(migrate(database.url, { directory })).rejects.toThrow(
    'applied to this database with a different content',
  );
  await expect(checkSchema(database.pool, directory)).rejects.toThrow(SchemaError);
});

test('a missing migration number is an error', async () => {
  await writeMigration('0002_second', 'select 1');
  await expect(migrate(database.url, { directory })).rejects.toThrow('migrations/0002_second.sql: expected number 1');
});

test('everything in the schema has a comment', async () => {
  await migrate(database.url);
  const { rows } = await database.pool.query(`
    select relname || coalesce('.' || attname, '') as name
    from pg_class left join pg_attribute on attrelid = pg_class.oid and attnum > 0
      and not attisdropped
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
      and not relispartition
      and (obj_description(pg_class.oid, 'pg_class') is null
        or col_description(attrelid, attnum) is null)`);
  expect(rows).toEqual([]);
});

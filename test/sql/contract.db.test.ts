/**
 * The promises of schema `kaspa`: contract-v1.txt lists every view, column and function with its
 * type. A line that goes away or changes is another version, in another file; new lines are written
 * by `npx vitest run test/sql/contract -u`, which a look at the diff must follow.
 */
import { readFileSync } from 'node:fs';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

async function listLines(query: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ line: string }>(query);
  return rows.map(({ line }) => line);
}

const COLUMNS = `
  select format('%s.%s %s', relname, attname, format_type(atttypid, atttypmod)) as line
    from pg_class join pg_attribute on attrelid = pg_class.oid
   where relnamespace = 'kaspa'::regnamespace and attnum > 0 and not attisdropped
   order by relname collate "C", attnum`;
const FUNCTIONS = `
  select format('%s(%s) %s', proname, pg_get_function_identity_arguments(oid),
    pg_get_function_result(oid)) as line
    from pg_proc where pronamespace = 'kaspa'::regnamespace order by proname collate "C"`;

test('it has the views, columns and functions of the contract version, and none disappeared', async () => {
  const [version] = await listLines('select kaspa.schema_version() as line');
  const file = `contract-v${version}.txt`;
  const lines = [...(await listLines(COLUMNS)), ...(await listLines(FUNCTIONS))];
  // Read before it is written again: -u may add to a version, and not take from it.
  const committed = readCommitted(file);
  expect(committed.filter((line) => !lines.includes(line))).toEqual([]);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file);
});

function readCommitted(file: string): string[] {
  try {
    return readFileSync(new URL(file, import.meta.url), 'utf8')
      .trim()
      .split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

test('it has a comment on every view, column and function', async () => {
  const uncommented = await listLines(`
    select format('view %s', relname) as line from pg_class
     where relnamespace = 'kaspa'::regnamespace
       and coalesce(obj_description(oid, 'pg_class'), '') = ''
    union all
    select format('column %s.%s', relname, attname) from pg_class
      join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'kaspa'::regnamespace and attnum > 0 and not attisdropped
       and coalesce(col_description(attrelid, attnum), '') = ''
    union all
    select format('function %s', oid::regprocedure) from pg_proc
     where pronamespace = 'kaspa'::regnamespace
       and coalesce(obj_description(oid, 'pg_proc'), '') = ''
    union all
    select format('schema %s', nspname) from pg_namespace
     where nspname = 'kaspa' and coalesce(obj_description(oid, 'pg_namespace'), '') = ''`);
  expect(uncommented).toEqual([]);
});

test('it contains only views and functions, and every view runs with the rights of its owner', async () => {
  const others = await listLines(`
    select format('%s %s', relkind, relname) as line from pg_class
     where relnamespace = 'kaspa'::regnamespace
       and (relkind <> 'v' or 'security_invoker=true' = any(reloptions))`);
  expect(others).toEqual([]);
});

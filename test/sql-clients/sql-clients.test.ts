/**
 * Analysts read the index with the clients that docs/sql.md names. Variables: PYTHON is an
 * interpreter with the packages of the clients (default python3), PGJDBC_JAR the driver of JDBC.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/kasgres.js', import.meta.url));
const PYTHON = process.env['PYTHON'] ?? 'python3';
const JDBC_DRIVER = process.env['PGJDBC_JAR'];
const LOGIN = `clients_${randomBytes(6).toString('hex')}`;
const RESULT = '42 kaspa';

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  url = (await run(process.execPath, [COMMAND, 'analysts', 'create', LOGIN], { env })).stdout.trim();
});
afterAll(async () => {
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  await run(process.execPath, [COMMAND, 'analysts', 'remove', LOGIN], { env });
  await database.drop();
});

/** Returns why a command fails; undefined if it succeeds. */
async function failureOf(command: string, ...args: string[]): Promise<string | undefined> {
  try {
    await run(command, args);
    return undefined;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return stderr.trim().split('\n').at(-1) || message;
  }
}

const withPython = (client: string) => async (address: string) =>
  (await run(PYTHON, [fileURLToPath(new URL('clients.py', import.meta.url)), client, address])).stdout.trim();

const clients: readonly {
  name: string;
  missing: () => Promise<string | undefined>;
  read: (url: string) => Promise<string>;
}[] = [
  {
    name: 'psql',
    missing: () => failureOf('psql', '--version'),
    read: async (address) =>
      (await run('psql', [address, '-AtF', ' ', '-c', 'select 6 * 7, current_schema()'])).stdout.trim(),
  },
  {
    name: 'node-postgres',
    missing: async () => undefined,
    read: async (address) => {
      const client = new Client({ connectionString: address });
      await client.connect();
      const { rows } = await client.query<{ result: number; path: string }>(
        'select 6 * 7 as result, current_schema() as path',
      );
      await client.end();
      return `${rows[0]?.result} ${rows[0]?.path}`;
    },
  },
  { name: 'psycopg 3', missing: () => failureOf(PYTHON, '-c', 'import psycopg'), read: withPython('psycopg3') },
  {
    name: 'a pool of asyncpg',
    missing: () => failureOf(PYTHON, '-c', 'import asyncpg'),
    read: withPython('asyncpg_pool'),
  },
  {
    name: 'SQLAlchemy with pandas',
    missing: () => failureOf(PYTHON, '-c', 'import sqlalchemy, pandas, psycopg'),
    read: withPython('sqlalchemy_pandas'),
  },
  {
    name: 'the postgres extension of DuckDB',
    missing: () => failureOf(PYTHON, '-c', 'import duckdb; duckdb.execute("install postgres; load postgres")'),
    read: withPython('duckdb_postgres'),
  },
  {
    name: 'JDBC',
    missing: async () => (JDBC_DRIVER === undefined ? 'PGJDBC_JAR is not set' : await failureOf('java', '-version')),
    read: async (address) => {
      const program = fileURLToPath(new URL('Jdbc.java', import.meta.url));
      return (await run('java', ['-cp', JDBC_DRIVER ?? '', program, address])).stdout.trim();
    },
  },
];

test.for(clients)('an analyst reads the index with $name', async ({ missing, read }, context) => {
  const reason = await missing();
  if (reason !== undefined) context.skip(`it is not installed: ${reason}`);
  expect(await read(url)).toBe(RESULT);
});

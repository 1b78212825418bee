/**
 * The SQL of the programs, other than the API's (Kysely types it), compiles on the migrated schema, and its parameters and columns have
 * the types that the code gives to them.
 */
import { execFileSync } from 'node:child_process';
import type { PoolClient, Submittable } from 'pg';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Statement } from './read-statements.ts';

/** How `connect` of packages/database decodes a type, and what it encodes as one. */
const TYPES: Readonly<Record<string, { column: string; parameters: readonly string[] }>> = {
  int8: { column: 'bigint', parameters: ['bigint', 'number', 'string'] },
  int4: { column: 'number', parameters: ['number', 'bigint'] },
  int2: { column: 'number', parameters: ['number'] },
  float8: { column: 'number', parameters: ['number'] },
  numeric: { column: 'string', parameters: ['string', 'bigint', 'number'] },
  bool: { column: 'boolean', parameters: ['boolean'] },
  text: { column: 'string', parameters: ['string'] },
  name: { column: 'string', parameters: ['string'] },
  bytea: { column: 'Buffer', parameters: ['Buffer'] },
  timestamptz: { column: 'Date', parameters: ['Date', 'string'] },
  date: { column: 'string', parameters: ['string'] },
  oid: { column: 'number', parameters: ['number', 'bigint'] },
  tid: { column: 'string', parameters: ['string'] },
  json: { column: 'record<string, number>', parameters: ['string'] },
};

const READER = new URL('read-statements.ts', import.meta.url).pathname;
const statements = JSON.parse(
  execFileSync(process.execPath, [READER], { encoding: 'utf8', maxBuffer: 2 ** 26 }),
) as Statement[];

let database: TestDatabase;
let client: PoolClient;
let typeNames: Map<number, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  const { rows } = await client.query<{ oid: number; name: string }>(
    `select oid, case typcategory when 'E' then 'text' else typname end as name from pg_type
     union all select typarray, '_text' from pg_type where typcategory = 'E'`,
  );
  typeNames = new Map(rows.map(({ oid, name }) => [oid, name]));
  await client.query('begin');
  await createTemporaryTables();
});

afterAll(async () => {
  client.release(true);
  await database.drop();
});

test.each(statements.filter(({ texts }) => texts.length > 0))(
  '$location compiles with the types of the code',
  async (statement) => {
    for (const text of statement.texts) expect(await differences(statement, text), text).toEqual([]);
  },
);

test('only statements that name roles, indexes or tables at run time are not checked', () => {
  const unread = Map.groupBy(
    statements.filter(({ texts }) => texts.length === 0),
    ({ location }) => location.replace(/:\d+$/, ''),
  );
  expect(Object.fromEntries([...unread].map(([file, { length }]) => [file, length]))).toMatchInlineSnapshot(`
    {
      "packages/cli/src/commands/sql.ts": 1,
      "packages/cli/src/verify/queries.ts": 1,
      "packages/cli/src/verify/since.ts": 1,
      "packages/cli/src/verify/stored-transactions.ts": 1,
      "packages/database/src/clusters/cluster-tags.ts": 2,
      "packages/database/src/connection/channels.ts": 1,
      "packages/database/src/logins/analysts.ts": 8,
      "packages/database/src/logins/read-only-login.ts": 6,
      "packages/database/src/schema/migrate.ts": 1,
      "packages/database/src/testing/server-url.ts": 1,
      "packages/indexer/src/apply/first-catch-up.ts": 10,
      "packages/indexer/src/apply/statistics.ts": 1,
      "packages/indexer/src/bootstrap/discard-index.ts": 1,
      "packages/indexer/src/indexed-chain.ts": 1,
      "packages/indexer/src/memory/look-up.ts": 1,
      "packages/indexer/src/retention/cut.ts": 14,
      "packages/indexer/src/retention/find-kept.ts": 4,
      "packages/indexer/src/retention/partitions.ts": 1,
      "packages/state/src/inscriptions/read.ts": 3,
      "packages/state/src/queryable.ts": 2,
      "packages/state/src/script-activity/look-up.ts": 1,
    }
  `);
});

/** Other statements read the tables that these create, in any order. They last until the transaction of the tests ends. */
async function createTemporaryTables(): Promise<void> {
  let pending = statements.flatMap(({ texts }) => texts).filter((text) => /^\s*create temp/.test(text));
  while (pending.length > 0) {
    const failed: string[] = [];
    for (const text of pending) {
      const parameters = new Set(text.match(/\$\d+/g)).size;
      await client.query('savepoint created');
      await client.query(text, Array(parameters).fill(null)).catch(async () => {
        await client.query('rollback to created');
        failed.push(text);
      });
    }
    if (failed.length === pending.length) throw new Error(`cannot create temporary tables: ${failed.join('; ')}`);
    pending = failed;
  }
}

async function differences(statement: Statement, text: string): Promise<string[]> {
  if (statement.columns !== undefined || statement.parameters?.length !== 0) {
    const described = await describeStatement(text);
    return [...parameterDifferences(statement, described), ...columnDifferences(statement, described)];
  }
  // A text without parameters may hold several commands.
  for (const command of text.split(';')) if (command.trim() !== '') await describeStatement(command);
  return [];
}

interface Description {
  /** Names of Postgres types: `int8`, `_text`. */
  parameters: string[];
  columns: Map<string, string>;
}

const nameOf = (type: number): string => typeNames.get(type) ?? String(type);

/** Asks Postgres for the types of a statement without running it. Throws the error of Postgres if the statement does not compile. */
async function describeStatement(text: string): Promise<Description> {
  await client.query('savepoint described');
  try {
    return await new Promise((resolve, reject) => {
      const described: Description = { parameters: [], columns: new Map() };
      client.query({
        submit: (connection: unknown) => {
          const protocol = connection as ProtocolConnection;
          protocol.once('parameterDescription', ({ dataTypeIDs }) => (described.parameters = dataTypeIDs.map(nameOf)));
          protocol.parse({ text, name: '', types: [] });
          protocol.describe({ type: 'S', name: '' });
          protocol.sync();
        },
        handleRowDescription: ({ fields }: { fields: { name: string; dataTypeID: number }[] }) => {
          described.columns = new Map(fields.map(({ name, dataTypeID }) => [name, nameOf(dataTypeID)]));
        },
        handleError: reject,
        handleReadyForQuery: () => resolve(described),
      } as Submittable);
    });
  } finally {
    await client.query('rollback to described');
  }
}

/** The part of the connection that `pg` passes to a Submittable; pg-cursor and pg-copy-streams use it, too. */
interface ProtocolConnection {
  parse(query: { text: string; name: string; types: [] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
  once(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
}

function parameterDifferences({ parameters }: Statement, described: Description): string[] {
  if (parameters === undefined) return [];
  const expected = described.parameters;
  if (parameters.length !== expected.length) return [`${parameters.length} values for ${expected.length} parameters`];
  return parameters
    .map((given, index) => ({ given, type: expected[index] ?? '', name: `$${index + 1}` }))
    .filter(({ given, type }) => !isParameter(given, type))
    .map(({ given, type, name }) => `${name} is ${type}, not ${given}`);
}

function columnDifferences({ columns }: Statement, described: Description): string[] {
  if (columns === undefined) return [];
  const names = [...new Set([...Object.keys(columns), ...described.columns.keys()])];
  return names
    .map((name) => ({ name, given: columns[name] ?? 'not declared', type: described.columns.get(name) ?? 'no column' }))
    .filter(({ given, type }) => !isColumn(given, type))
    .map(({ name, given, type }) => `${name} is ${type}, not ${given}`);
}

function isColumn(given: string, type: string): boolean {
  if (type.startsWith('_')) return given.endsWith('[]') && isColumn(given.slice(0, -2), type.slice(1));
  return given === TYPES[type]?.column;
}

function isParameter(given: string, type: string): boolean {
  const members = given
    .replace(/^\((.*)\)\[\]$/, '$1')
    .replace(/\[\]$/, '')
    .split(' | ');
  if (given.endsWith('[]') !== type.startsWith('_')) return given === 'null' || given === 'undefined';
  return members.every((member) => TYPES[type.replace(/^_/, '')]?.parameters.includes(member));
}

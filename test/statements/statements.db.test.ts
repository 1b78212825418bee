/**
 * The SQL of the programs, other than the API's (Kysely types it), compiles on the migrated schema,
 * and its parameters and columns have the types that the code gives to them.
 */
import { execFileSync } from 'node:child_process';
import type { PoolClient } from 'pg';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnDifferences, describeStatement, parameterDifferences, readTypeNames } from './describe-statement.ts';
import type { Read, Statement } from './read-statements.ts';

const READER = new URL('read-statements.ts', import.meta.url).pathname;
const { statements } = JSON.parse(
  execFileSync(process.execPath, [READER], { encoding: 'utf8', maxBuffer: 2 ** 26 }),
) as Read;

let database: TestDatabase;
let client: PoolClient;
let nameOf: Awaited<ReturnType<typeof readTypeNames>>;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  nameOf = await readTypeNames(client);
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
      "packages/database/src/clusters/cluster-tags.ts": 2,
      "packages/database/src/connection/channels.ts": 1,
      "packages/database/src/logins/analysts.ts": 8,
      "packages/database/src/logins/read-only-login.ts": 6,
      "packages/database/src/schema/migrate.ts": 1,
      "packages/database/src/testing/server-url.ts": 1,
      "packages/indexer/src/apply/first-catch-up.ts": 10,
      "packages/indexer/src/apply/late-inputs.ts": 1,
      "packages/indexer/src/apply/statistics.ts": 1,
      "packages/indexer/src/bootstrap/discard-index.ts": 1,
      "packages/indexer/src/bootstrap/write-bootstrap.ts": 2,
      "packages/indexer/src/indexed-chain.ts": 1,
      "packages/indexer/src/memory/look-up.ts": 1,
      "packages/indexer/src/retention/cut.ts": 5,
      "packages/indexer/src/retention/find-kept.ts": 4,
      "packages/indexer/src/retention/partitions.ts": 1,
      "packages/indexer/src/retention/prepared-cut.ts": 11,
      "packages/state/src/balances/script-activity/look-up.ts": 1,
      "packages/state/src/inscriptions/read.ts": 3,
      "packages/state/src/queryable.ts": 2,
      "packages/verification/src/queries.ts": 1,
      "packages/verification/src/since.ts": 1,
      "packages/verification/src/stored-transactions.ts": 1,
    }
  `);
});

/**
 * Other statements read the tables that these create, in any order. They last until the transaction
 * of the tests ends.
 */
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
    const described = await describeStatement(client, nameOf, text);
    return [
      ...parameterDifferences(statement.parameters, described),
      ...columnDifferences(statement.columns, described),
    ];
  }
  // A text without parameters may hold several commands.
  for (const command of text.split(';')) if (command.trim() !== '') await describeStatement(client, nameOf, command);
  return [];
}

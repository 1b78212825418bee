/**
 * The SQL of the API can be read in golden/*.sql, and is checked: each piece of it in the sources
 * is in a statement there, Postgres describes each statement, parameters and rows have the types
 * that the code gives them, and JSON has the fields of the response's schema.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnDifferences, describeStatement, parameterDifferences, readTypeNames } from './describe-statement.ts';
import { toGoldenFiles } from './golden.ts';
import type { Read } from './read-statements.ts';
import type { Recording } from './record.ts';

const path = (name: string): string => new URL(name, import.meta.url).pathname;

let recording: Recording;
let executed: Read['executed'];
let database: TestDatabase | undefined;
let client: PoolClient | undefined;

beforeAll(async () => {
  [recording, { executed }] = await Promise.all([run<Recording>('record.ts'), run<Read>('read-statements.ts')]);
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query('begin');
}, 600_000);
afterAll(async () => {
  client?.release(true);
  await database?.drop();
});

async function run<Written>(program: string): Promise<Written> {
  // With the cache, functions that were compiled before are counted less precisely.
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined };
  const { stdout } = await promisify(execFile)(process.execPath, [path(program)], { env, maxBuffer: 2 ** 28 });
  return JSON.parse(stdout) as Written;
}

test('it sends every piece of SQL that the sources have', () => {
  expect(recording.unreached).toEqual([]);
});

test('it sends the statements of the golden files, which `npm run generate:statements` writes', async () => {
  const files = toGoldenFiles(recording.sections);
  for (const [name, text] of files) await expect(text).toMatchFileSnapshot(`golden/${name}`);
  expect(readdirSync(path('golden')).toSorted()).toEqual([...files.keys()].toSorted());
});

test('it sends parameters and reads columns of the types that Postgres describes', async () => {
  if (client === undefined) throw new Error('there is no connection');
  const nameOf = await readTypeNames(client);
  const faults: string[] = [];
  for (const { text, values, sender, name } of recording.sections.flatMap(([, statements]) => statements)) {
    const title = sender?.location ?? name ?? text;
    const described = await describeStatement(client, nameOf, text).catch(String);
    if (typeof described === 'string') {
      faults.push(`${title}: ${described}`);
      continue;
    }
    const columns = executed[sender?.location ?? ''];
    const differences = [...parameterDifferences(values, described), ...columnDifferences(columns, described)];
    faults.push(...differences.map((difference) => `${title}: ${difference}`));
  }
  expect([...new Set(faults)]).toEqual([]);
});

test('it responds with the fields of openapi.json and no others', () => {
  expect(recording.faults).toEqual([]);
});

test('it responds with every field of openapi.json but those of bootstraps, of limits and of what the node tells', () => {
  expect(recording.unseen).toMatchInlineSnapshot(`
    [
      "get /v1/status: utxoSetLoad.pruningPoint",
      "get /v1/status: utxoSetLoad.utxoCount",
      "post /v1/rpc/getBlockTemplate: block.transactions.inputs.computeBudget",
      "post /v1/rpc/getBlockTemplate: block.transactions.outputs.covenant",
      "get /v1/miners: miners.tag.isGuessed",
      "get /v1/templates/{hash}/covenants: metadata.scannedTo",
      "get /v1/blocks/daa-score/{start}/{end}: truncated",
      "get /v1/addresses/{address}/cluster: changeSuggestions.address",
      "get /v1/addresses/{address}/cluster: changeSuggestions.transactionId",
      "get /v1/addresses/{address}/cluster: changeSuggestions.isChange",
      "get /v1/templates/{hash}: template.names.required.value",
      "get /v1/mempool/{transactionId}: transaction.inputs.computeBudget",
      "get /v1/mempool/{transactionId}: transaction.outputs.covenant",
      "get /v1/mempool/{transactionId}: transaction.protocols.protocol",
      "get /v1/mempool/{transactionId}: transaction.protocols.source",
      "get /v1/mempool/{transactionId}: transaction.protocols.operation",
      "get /v1/mempool/{transactionId}: transaction.protocols.tick",
      "get /v1/mempool/{transactionId}: transaction.protocols.body",
      "get /v1/mempool/{transactionId}: transaction.decodedPayload.text",
      "get /v1/mempool/{transactionId}: transaction.decodedPayload.json",
    ]
  `);
});

import { createHash } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { getNetwork, NATIVE_SUBNETWORK } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { PoolClient, QueryResult } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { lookUp } from './look-up.ts';
import { Memory } from './memory.ts';

const network = getNetwork('simnet');
const KEY = 7;
const FEW = 10;
const MANY = 20_000;
const CARRIED = 50;

let database: TestDatabase;
let client: PoolClient;
beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     values ($1, $2, $2, 0, 0, 0, 0, '', 0, 0, 0)`,
    [KEY, hashOf('first')],
  );
});
afterAll(async () => {
  client.release();
  await database.drop();
});

const hashOf = (name: string): Buffer => createHash('sha256').update(name).digest();

async function writeVariants(from: number, to: number): Promise<void> {
  await client.query(
    `insert into transaction_variants (transaction_id, variant, hash, storage_mass, compute_mass, json_bytes)
     select $1, n, sha256(n::text::bytea), 0, 0, 0
       from generate_series($2::integer, $3::integer) n`,
    [KEY, from, to],
  );
}

/** A block that carries these variants of the transaction. */
function blockWith(names: readonly string[]): RpcBlock {
  const transactions = names.map(
    (name) =>
      ({
        transactionId: hashOf('first'),
        hash: hashOf(name),
        subnetworkId: NATIVE_SUBNETWORK,
        inputs: [],
        outputs: [],
        payload: new Uint8Array(),
      }) as unknown as RpcTransaction,
  );
  return {
    hash: hashOf('block'),
    header: { parentsByLevel: [] },
    mergeSetBluesHashes: [],
    mergeSetRedsHashes: [],
    transactions,
  } as unknown as RpcBlock;
}

interface PlanNode {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

const isOfVariants = (text: unknown): boolean => typeof text === 'string' && text.includes('transaction_variants');

async function explain(text: string, values: unknown[]): Promise<PlanNode> {
  const { rows }: QueryResult<{ 'QUERY PLAN': [{ Plan: PlanNode }] }> = await client.query(
    `explain (analyze, format json) ${text}`,
    values,
  );
  return (rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan;
}

/** Looks up a block, and returns the number of rows of variants that Postgres read. */
async function rowsReadFor(memory: Memory, block: RpcBlock): Promise<number> {
  const query = vi.spyOn(client, 'query');
  await lookUp(client, { memory, network }, [block]);
  const statement = query.mock.calls.find(([text]) => isOfVariants(text));
  query.mockRestore();
  return sumRows(await explain(...(statement as unknown as [string, unknown[]])));
}

/** Returns the indexes that the plan reads, in order. */
function indexesOf(node: PlanNode): string[] {
  const own = node['Index Name'] === undefined ? [] : [node['Index Name']];
  return [...own, ...(node.Plans ?? []).flatMap(indexesOf)];
}

function sumRows(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name']?.startsWith('transaction_variants') ? node['Actual Rows'] + removed : 0;
  return (node.Plans ?? []).reduce((sum, each) => sum + sumRows(each), own * node['Actual Loops']);
}

test('the look-up of a variant reads as many rows after 20,000 variants of its id as after ten', async () => {
  const names = Array.from({ length: CARRIED }, (_, n) => (n < CARRIED / 2 ? String(n + 1) : `new ${n}`));
  const read: number[] = [];
  await writeVariants(1, FEW);
  for (const [from, to] of [
    [0, 0],
    [FEW + 1, MANY],
    [MANY + 1, 2 * MANY],
  ] as const) {
    if (to > 0) await writeVariants(from, to);
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await client.query('analyze transaction_variants');
      read.push(await rowsReadFor(new Memory(1_000, KEY + 1, false), blockWith(names)));
    }
  }
  // At most a row for each known variant, and the latest of its transaction.
  const [, , ...ofMany] = read;
  for (const rows of ofMany) expect(rows).toBeLessThanOrEqual(CARRIED / 2 + CARRIED);
});

test('it caches the numbers of the variants that it looked up, and the highest one', async () => {
  const memory = new Memory(1_000, KEY + 1, false);
  await lookUp(client, { memory, network }, [blockWith(['first', '3', '10', 'new'])]);
  expect(memory.variants.get(hashOf('3'))).toBe(3);
  expect(memory.variants.get(hashOf('10'))).toBe(10);
  expect(memory.variants.get(hashOf('new'))).toBeUndefined();
  expect(memory.variants.size).toBe(2);
  expect(memory.lastVariants.get(KEY)).toBe(2 * MANY);
  const query = vi.spyOn(client, 'query');
  await lookUp(client, { memory, network }, [blockWith(['first', '3', '10'])]);
  expect(query.mock.calls.filter(([text]) => isOfVariants(text))).toEqual([]);
});

test('it looks up ids and addresses in B-trees, however many of them Postgres hashes equally', async () => {
  const scriptPublicKey = { version: 0, script: new Uint8Array([0x20, ...hashOf('key'), 0xac]) };
  const [transaction] = blockWith(['new']).transactions;
  const block = { ...blockWith([]), transactions: [{ ...transaction, outputs: [{ value: 1n, scriptPublicKey }] }] };
  const query = vi.spyOn(client, 'query');
  await lookUp(client, { memory: new Memory(1_000, KEY + 1, false), network }, [block as unknown as RpcBlock]);
  const statements = query.mock.calls.map(
    ([config]) => config as unknown as { name?: string; text: string; values: unknown[] },
  );
  query.mockRestore();
  await client.query('set enable_seqscan = off');
  const indexes: string[] = [];
  for (const { name, text, values } of statements) {
    if (name === 'lookUp-transactions' || name === 'lookUp-scripts')
      indexes.push(...indexesOf(await explain(text, values)));
  }
  await client.query('reset enable_seqscan');
  const { rows } = await client.query<{ name: string; method: string }>(
    `select relname as name, amname as method from pg_class join pg_am on pg_am.oid = relam
      where relname = any($1)`,
    [indexes],
  );
  expect(indexes).toEqual(expect.arrayContaining(['transactions_0_transaction_id', 'scripts_address']));
  expect(rows.filter(({ method }) => method !== 'btree')).toEqual([]);
});

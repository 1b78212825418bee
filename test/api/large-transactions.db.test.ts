/**
 * A page ends before its response is larger than 1 MiB, since anybody can mine transactions with
 * thousands of outputs to an address of somebody else. Walks in both directions still see every
 * transaction once.
 */
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptOf } from '@kasgres/devnet/testing';
import { mergeBesideChain, spending } from '../support/unaccepted.ts';
import { type Harness, openHarness } from './harness.ts';

const VICTIM = scriptOf(91);
const MAX_BYTES = 2 ** 20;
const LARGE = 8;
const OUTPUTS = 800;
/** By which the estimate may differ from the JSON. */
const TOLERANCE = 1.3;

let harness: Harness;
let address: string;
let block: string;
let large: string[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 40 });
  const { node } = harness.simulatedDag;
  address = scriptToAddress(VICTIM, node.network.addressPrefix) ?? '';
  const transactions = Array.from({ length: LARGE }, (_, n) =>
    spending(
      [{ transactionId: Buffer.alloc(32, 200 + n), index: 0 }],
      Array.from({ length: OUTPUTS }, () => ({ amount: 1n, scriptPublicKey: VICTIM })),
    ),
  );
  large = transactions.map(({ transactionId }) => toHex(transactionId));
  mergeBesideChain(node, transactions);
  await harness.atRest();
  const { rows } = await harness.database.pool.query<{ hash: string }>(
    `select encode(b.hash, 'hex') as hash from transactions t join block_transactions bt on bt.transaction_id = t.id
       join blocks b on b.id = bt.block_id where encode(t.transaction_id, 'hex') = $1`,
    [large[0]],
  );
  block = rows[0]?.hash ?? '';
});
afterAll(() => harness.close());

interface Page {
  transactions: { transactionId: string }[];
  metadata: { hasMore: boolean; count: number };
}

async function read(path: string): Promise<{ page: Page; bytes: number }> {
  const { status, text } = await harness.api.get(path);
  expect(status, path).toBe(200);
  return { page: JSON.parse(text) as Page, bytes: text.length };
}

const LISTINGS = [
  ['of an address', () => `/v1/addresses/${address}/transactions?limit=100`, LARGE],
  ['of a block', () => `/v1/blocks/${block}/transactions?limit=100`, LARGE + 1],
  ['of all', () => '/v1/transactions?limit=100&include_payload=true', undefined],
] as const;

/** Walks a listing of several pages in both directions, and returns its transactions. */
async function walk(path: string): Promise<string[]> {
  const forward: string[] = [];
  const pages: Page[] = [];
  for (let cursor = ''; ; ) {
    const { page, bytes } = await read(`${path}${cursor}`);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(page.metadata.count).toBe(page.transactions.length);
    pages.push(page);
    forward.push(...page.transactions.map(({ transactionId }) => transactionId));
    if (!page.metadata.hasMore) break;
    cursor = `&starting_after=${forward.at(-1)}`;
  }
  expect(pages.length).toBeGreaterThan(2);
  expect(new Set(forward).size).toBe(forward.length);

  const backward = (pages.at(-1) as Page).transactions.map(({ transactionId }) => transactionId);
  for (let hasMore = true; hasMore; ) {
    const { page, bytes } = await read(`${path}&ending_before=${backward[0]}`);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    backward.unshift(...page.transactions.map(({ transactionId }) => transactionId));
    hasMore = page.metadata.hasMore;
  }
  expect(backward).toEqual(forward);
  return forward;
}

test.each(LISTINGS)(
  'pages %s are at most 1 MiB, and show every transaction once in both directions',
  async (_, path, count) => {
    const shown = await walk(path());
    expect(shown).toEqual(expect.arrayContaining(large));
    if (count !== undefined) expect(shown).toHaveLength(count);
  },
);

test('the estimate of a transaction is close to its JSON', async () => {
  const { rows } = await harness.database.pool.query<{ id: string; estimate: number }>(
    `select encode(transaction_id, 'hex') as id, json_bytes as estimate from transactions
      where accepting_index is not null limit 100`,
  );
  const transactionIds = rows.map(({ id }) => id);
  const { json } = await harness.api.postChecked('/v1/transactions', { transactionIds });
  const shown = json['transactions'] as { transactionId: string }[];
  expect(shown).toHaveLength(rows.length);
  const ratios = shown.map((transaction, n) => (rows[n]?.estimate ?? 0) / JSON.stringify(transaction).length);
  expect(Math.min(...ratios)).toBeGreaterThan(1 / TOLERANCE);
  expect(Math.max(...ratios)).toBeLessThan(TOLERANCE);
});

test('pages of transactions that spend long scripts are at most 1 MiB', async () => {
  const { database, simulatedDag, atRest } = harness;
  const { rows } = await database.pool.query<{ transactionId: Buffer; index: bigint }>(
    `select t.transaction_id as "transactionId", o.index from transaction_outputs o
      join transactions t on t.id = o.transaction_id
      where t.accepting_index is not null order by t.id desc, o.index limit 40`,
  );
  const outpoints = rows.map(({ transactionId, index }) => ({ transactionId, index: Number(index) }));
  const receiver = scriptOf(92);
  const transactions = Array.from({ length: LARGE }, (_, n) =>
    spending(outpoints, [{ amount: 1n, scriptPublicKey: receiver }], n),
  );
  for (const transaction of transactions) mergeBesideChain(simulatedDag.node, [transaction]);
  await atRest();
  // The simulated node does not make them; they are as long as kaspad allows.
  await database.pool.query(
    `update scripts set script = script || $1
      where id in (select script_id from transaction_outputs
        where transaction_id = any(select id from transactions where transaction_id = any($2)))`,
    [Buffer.alloc(9_900), rows.map(({ transactionId }) => transactionId)],
  );
  const shown = await walk(
    `/v1/addresses/${scriptToAddress(receiver, simulatedDag.node.network.addressPrefix)}/transactions?limit=100`,
  );
  expect(shown).toHaveLength(LARGE);
});

test('transactions that a client chooses are refused beyond a bound on bytes', async () => {
  await harness.database.pool.query(
    `update transactions set json_bytes = 10000000 where encode(transaction_id, 'hex') = any($1)`,
    [large],
  );
  const refused = { statusCode: 400, details: [{ path: 'transactionIds' }] };
  const response = await harness.api.post('/v1/transactions', { transactionIds: large });
  expect(response.json).toMatchObject(refused);
  const history = await harness.api.get(`/rest/addresses/${address}/full-transactions?limit=10`);
  expect([history.status, history.text]).toEqual([400, expect.stringContaining('limit')]);
  const one = await harness.api.get(`/rest/addresses/${address}/full-transactions?limit=1`);
  expect(one.status).toBe(200);
  const { json } = await harness.api.get(`/rest/blocks/${block}?includeTransactions=false`);
  const blocks = `/rest/blocks-from-bluescore?blueScore=${(json['header'] as { blueScore: string }).blueScore}`;
  expect((await harness.api.get(`${blocks}&includeTransactions=true`)).json).toMatchObject({
    statusCode: 400,
    details: [{ path: 'includeTransactions' }],
  });
  expect((await harness.api.get(blocks)).status).toBe(200);
});

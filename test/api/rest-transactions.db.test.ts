/**
 * Whole transactions, by id and in listings, over HTTP: every one of a simulated chain with double
 * spends, several variants of one id, covenants and reorganisations, against what the node's own
 * responses make of it.
 */
import { fromHex, NATIVE_SUBNETWORK, type Outpoint, type ScriptPublicKey } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assembleBlock, withDerived } from '@kasgres/devnet';
import { firstDifference, inParallel, type Json } from '../support/compare/comparison.ts';
import {
  acceptedHashIn,
  compareTransactions,
  differenceOf,
  type NodeTransactions,
  readTransactions,
} from '../support/compare/transactions.ts';
import { walk } from '../support/listings.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let transactions: NodeTransactions;
/** Ids, newest first by the order of writing. */
let newestFirst: string[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 400 });
  mineImpossiblePayments(harness);
  harness.simulatedDag.mine(20);
  await harness.atRest();
  transactions = await readTransactions(
    harness.node,
    harness.database.pool,
    acceptedHashIn(harness.simulatedDag.node.dag),
  );
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions t order by t.id desc`,
  );
  newestFirst = rows.map(({ id }) => id);
});
afterAll(() => harness.close());

/**
 * A block with payments that no chain block can accept: of UTXOs that do not exist, and of more
 * than there is.
 */
function mineImpossiblePayments({ simulatedDag: { node } }: Harness): void {
  const { consensus, dag } = node;
  const beside = [...dag.allBlocks()].findLast(
    (block) => block.mergingBlock !== undefined && block.chainIndex === undefined,
  );
  const [notAccepted] = beside?.transactions ?? [];
  const [accepted] = dag.chainBlocks.at(-5)?.transactions ?? [];
  if (notAccepted === undefined || accepted === undefined) throw new Error('the chain is too short');
  const utxos: Outpoint[] = [
    { transactionId: notAccepted.transactionId, index: 0 },
    { transactionId: accepted.transactionId, index: 7_000 },
    { transactionId: fromHex('ab'.repeat(32)), index: 0 },
  ];
  const existing = { transactionId: accepted.transactionId, index: 0 };
  const script = accepted.outputs[0]?.scriptPublicKey;
  if (script === undefined) throw new Error('a coinbase without an output');
  const payments = [...utxos.map((utxo) => payment([utxo], 1000n, script)), payment([existing], 10n ** 15n, script)];
  const { virtual } = consensus;
  const miner = { scriptPublicKey: script, extraData: new Uint8Array(0) };
  node.receive(assembleBlock(consensus, { virtual, miner, payments, timestamp: node.now(), nonce: 1n }));
}

function payment(utxos: readonly Outpoint[], amount: bigint, scriptPublicKey: ScriptPublicKey) {
  return withDerived({
    version: 0,
    inputs: utxos.map((previousOutpoint) => ({
      previousOutpoint,
      signatureScript: Uint8Array.of(1, 2),
      sequence: 2n ** 64n - 1n,
      sigOpCount: 1,
      computeBudget: 0,
    })),
    outputs: [{ amount, scriptPublicKey, covenant: undefined }],
    lockTime: 2n ** 64n - 1n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload: Uint8Array.of(0, 255),
    storageMass: 10_000n,
  });
}

/** Every item of a listing, with payloads. */
const readAll = (template: string, values: Record<string, string>, query: Record<string, string> = {}) =>
  walk<Json>(
    harness.api,
    {
      template,
      values,
      query: { include_payload: 'true', ...query },
      field: 'transactions',
      cursorOf: (item) => String(item['transactionId']),
    },
    100,
  );

const idsOf = (items: readonly Json[]) => items.map((item) => item['transactionId']);

test('the test chain has every kind of transaction', async () => {
  const { rows } = await harness.database.pool.query<Record<string, boolean>>(`
    select
      exists (select from transactions
        where accepting_index is null and subnetwork_id <> 1) as refused,
      exists (select from transactions where accepted_variant > 0) as second_body_accepted,
      exists (select from block_transactions group by transaction_id
        having count(*) > 1) as in_several_blocks,
      exists (select from transaction_inputs i join transactions t on t.id = i.transaction_id
              join transactions p on p.id = i.previous_transaction_id
              where t.accepting_index is null and p.accepting_index is null) as utxo_of_refused,
      exists (select from transaction_inputs
        where previous_transaction_hash <> '') as utxo_never_seen,
      exists (select from transaction_inputs
        where previous_transaction_id is not null and amount is null) as utxo_beyond_the_last,
      exists (select from transactions t where fee is null
              and not exists (select from transaction_inputs i
                where i.transaction_id = t.id and i.amount is null)) as more_than_there_is,
      exists (select from transactions where payload <> '' and subnetwork_id <> 1) as payload,
      exists (select from transaction_outputs where covenant_id is not null) as covenant,
      exists (select from transactions where version = 1) as version_1,
      exists (select from scripts where address is null) as non_standard`);
  expect(Object.entries(rows[0] ?? {}).filter(([, there]) => !there)).toEqual([]);
});

test('it returns every transaction by its id, 500 at a time', async () => {
  expect(newestFirst.toSorted()).toEqual(transactions.ids.toSorted());
  expect(await compareTransactions(harness.api, transactions)).toEqual([]);
});

test('it returns the same for a single transaction', async () => {
  for (const id of newestFirst.filter((_, place) => place % 20 === 0)) {
    const template = '/v1/transactions/{transactionId}';
    const { json } = await harness.api.getChecked(template, { transactionId: id }, { include_payload: 'true' });
    expect(differenceOf(transactions, id, json['transaction'])).toBeUndefined();
  }
});

test('it returns transactions in the order of the request, without unknown ones, and repeated ones twice', async () => {
  const [first = '', second = ''] = transactions.ids;
  const transactionIds = [second, 'ab'.repeat(32), `0x${first}`, second.toUpperCase()];
  const { status, json } = await harness.api.request('/v1/transactions', { body: { transactionIds } });
  expect(status).toBe(200);
  expect(idsOf(json['transactions'] as Json[])).toEqual([second, first, second]);
  expect((await harness.api.request('/v1/transactions', { body: { transactionIds: [] } })).json).toEqual({
    transactions: [],
  });
});

test('it omits the payload unless requested, and changes nothing else', async () => {
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions t where payload <> '' order by t.id limit 5`,
  );
  for (const { id } of rows) {
    const shown = await harness.api.request(`/v1/transactions/${id}?include_payload=true`);
    const { payload, ...rest } = shown.json['transaction'] as Json;
    expect(payload).toMatch(/^0x[0-9a-f]+$/);
    expect((await harness.api.request(`/v1/transactions/${id}`)).json).toEqual({ transaction: rest });
    const body = { transactionIds: [id] };
    expect((await harness.api.request('/v1/transactions', { body })).json).toEqual({ transactions: [rest] });
  }
});

test.each([
  ['/v1/transactions/', 'ab'.repeat(32), 404, { message: 'Unknown transaction' }],
  ['/v1/transactions/', 'ab', 400, { details: [{ path: 'transactionId' }] }],
  [
    '/v1/transactions/',
    `${'ab'.repeat(32)}?payload=true`,
    400,
    { details: [{ path: 'payload', message: 'is not a known field' }] },
  ],
  [
    '/v1/transactions?starting_after=',
    'ab'.repeat(32),
    404,
    { message: 'starting_after is not an item of this listing' },
  ],
  ['/v1/transactions?ending_before=', 'ab', 400, { details: [{ path: 'ending_before' }] }],
])('%s%s is refused with %i', async (path, rest, status, error) => {
  const response = await harness.api.request(path + rest);
  expect(response.status).toBe(status);
  expect(response.json).toMatchObject(error);
});

test('it refuses more than 500 ids, and names the field', async () => {
  const transactionIds = Array.from({ length: 501 }, () => 'ab'.repeat(32));
  const { status, json } = await harness.api.request('/v1/transactions', { body: { transactionIds } });
  expect(status).toBe(400);
  expect(json['details']).toMatchObject([{ path: 'transactionIds' }]);
  const without = await harness.api.request('/v1/transactions', { body: {} });
  expect(without.json['details']).toMatchObject([{ path: 'transactionIds' }]);
});

test('it lists the newest transactions first, also when restricted to accepted ones', async () => {
  const all = await readAll('/v1/transactions', {});
  expect(idsOf(all)).toEqual(newestFirst);
  const wrong = all.flatMap((item) => differenceOf(transactions, String(item['transactionId']), item) ?? []);
  expect(wrong).toEqual([]);
  const accepted = await readAll('/v1/transactions', {}, { accepted_only: 'true' });
  expect(accepted).toEqual(all.filter((item) => item['isAccepted']));
  expect(accepted.length).toBeLessThan(all.length);
});

interface Utxo {
  amount: string | null;
  scriptPublicKeyAddress: string | null;
}

/** The amounts that the transaction, as it must be shown, moves to and from the address. */
function expectedSums({ inputs, outputs }: Json, address: string): Json {
  const sum = (utxos: readonly Utxo[]) =>
    utxos
      .filter((utxo) => utxo.scriptPublicKeyAddress === address)
      .reduce((total, { amount }) => total + BigInt(amount ?? 0), 0n);
  const sent = sum((inputs as { previousOutput: Utxo }[]).map(({ previousOutput }) => previousOutput));
  const received = sum(outputs as Utxo[]);
  return { amountSent: String(sent), amountReceived: String(received), balanceChange: String(received - sent) };
}

const LISTING = '/v1/addresses/{address}/transactions';
const listingOf = (address: string) => LISTING.replace('{address}', address);

/** The ids that touch each address, newest first. */
function groupByAddress(): Map<string, string[]> {
  const touching = new Map<string, string[]>();
  for (const id of newestFirst) {
    for (const address of transactions.addressesOf(id)) touching.set(address, [...(touching.get(address) ?? []), id]);
  }
  return touching;
}

/** The busy ones and some others. */
function someAddresses(touching: ReadonlyMap<string, readonly string[]>): string[] {
  const busiestFirst = [...touching.keys()].toSorted(
    (a, b) => (touching.get(b)?.length ?? 0) - (touching.get(a)?.length ?? 0),
  );
  return busiestFirst.filter((_, place) => place < 20 || place % 10 === 0);
}

test('it lists the transactions of an address, which add up to its balance', async () => {
  const touching = groupByAddress();
  expect(touching.size).toBeGreaterThan(100);
  await inParallel(someAddresses(touching), async (address) => {
    const all = await readAll(LISTING, { address });
    expect(idsOf(all)).toEqual(touching.get(address));
    const expected = all.map((item) => {
      const transaction = transactions.expected(String(item['transactionId']), item) ?? {};
      return { ...transaction, ...expectedSums(transaction, address) };
    });
    expect(firstDifference(expected, all)).toBeUndefined();

    const accepted = await readAll(LISTING, { address }, { accepted_only: 'true' });
    expect(accepted).toEqual(all.filter((item) => item['isAccepted']));
    const { json } = await harness.api.request(`/v1/rpc/getBalanceByAddress/${address}`);
    const balance = accepted.reduce((sum, item) => sum + BigInt(String(item['balanceChange'])), 0n);
    expect(String(balance)).toBe(json['balance']);
  });
});

test('an unseen address has no transactions, and refuses any cursor', async () => {
  const path = listingOf('kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t');
  const empty = await harness.api.request(path);
  expect(empty.json).toEqual({ transactions: [], metadata: { hasMore: false, count: 0 } });
  const { status } = await harness.api.request(`${path}?starting_after=${newestFirst[0]}`);
  expect(status).toBe(404);
});

test('a cursor must be a transaction of the address, accepted or not', async () => {
  const isRefused = (id: string) => !transactions.isAccepted(id) && transactions.addressesOf(id).size > 0;
  const refused = newestFirst.find(isRefused) ?? '';
  const [address = ''] = transactions.addressesOf(refused);
  const cursor = `accepted_only=true&starting_after=${refused}`;
  const behind = await harness.api.request(`${listingOf(address)}?${cursor}`);
  expect(behind.status).toBe(200);
  const older = newestFirst.slice(newestFirst.indexOf(refused) + 1);
  const next = older.find((id) => transactions.isAccepted(id) && transactions.addressesOf(id).has(address));
  expect(idsOf(behind.json['transactions'] as Json[])[0]).toBe(next);

  const foreign = newestFirst.find((id) => !transactions.addressesOf(id).has(address));
  const response = await harness.api.request(`${listingOf(address)}?starting_after=${foreign}`);
  expect(response.status).toBe(404);
});

test('it refuses an address of another network, and names it', async () => {
  const { status, json } = await harness.api.request(
    listingOf('kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4e'),
  );
  expect({ status, details: json['details'] }).toEqual({
    status: 400,
    details: [{ path: 'address', message: 'is not an address of simnet' }],
  });
});

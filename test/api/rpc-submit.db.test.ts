/**
 * Submits over HTTP: a payment goes through the mempool into a template, the template comes back as
 * a block, and in the end the index shows both. Against the real process.
 */
import { createKey } from '@kasgres/database';
import { classifyScript, covenantId, scriptToAddress, toHex, type Transaction, transactionId } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildTransaction, type UtxoEntry, withOtherSignatures } from '@kasgres/devnet';
import { submittedForm } from '../support/compare/expected.ts';
import { ApiClient } from '../support/api-client.ts';
import { openHarness, type Harness } from './harness.ts';

const TRANSACTION = '/v1/rpc/submitTransaction';
const BLOCK = '/v1/rpc/submitBlock';
const TEMPLATE = '/v1/rpc/getBlockTemplate';
const COINBASE_MATURITY = 20n;
const FEE = 5_000_000n;

let harness: Harness;
let api: ApiClient;
const spent = new Set<string>();

beforeAll(async () => {
  harness = await openHarness({ rounds: 80 });
  ({ api } = harness);
});
afterAll(() => harness.close());

const ask = (path: string, body: object | string) => harness.api.postChecked(path, body);

/** A UTXO of a public key that nobody spends yet. */
function takeUtxo(): UtxoEntry {
  const { consensus, mempool } = harness.simulatedDag.node;
  const { daaScore } = consensus.virtual;
  const inMempool = new Set(
    mempool
      .entries({ includeOrphanPool: false, filterTransactionPool: false })
      .flatMap(({ transaction }) => transaction.inputs.map(({ previousOutpoint }) => keyOf(previousOutpoint))),
  );
  for (const utxo of consensus.utxos.values()) {
    const key = keyOf(utxo.outpoint);
    const isMature = !utxo.isCoinbase || utxo.blockDaaScore + COINBASE_MATURITY < BigInt(daaScore);
    const isStandard = classifyScript(utxo.scriptPublicKey) === 'pubkey';
    if (!isMature || !isStandard || utxo.amount < 500_000_000n || spent.has(key) || inMempool.has(key)) continue;
    spent.add(key);
    return utxo;
  }
  throw new Error('there is no UTXO left');
}

const keyOf = ({ transactionId: id, index }: { transactionId: Uint8Array; index: number }) => `${toHex(id)}:${index}`;

/**
 * Splits a UTXO, so that the transaction has a storage mass; with the greatest sequence there is.
 */
function payment({ version = 0, foundsCovenant = false } = {}): Transaction {
  const utxo = takeUtxo();
  const { scriptPublicKey } = utxo;
  const first = { amount: 30_000_000n, scriptPublicKey };
  const covenant = { authorizingInput: 0, covenantId: covenantId(utxo.outpoint, [[0, first]]) };
  const transaction = buildTransaction({
    version,
    utxos: [{ entry: utxo, redeemScript: undefined }],
    outputs: [
      { amount: 30_000_000, scriptPublicKey, ...(foundsCovenant && { covenant }) },
      { amount: Number(utxo.amount - FEE) - 30_000_000, scriptPublicKey },
    ],
    payload: Buffer.from('by HTTP'),
  });
  return { ...transaction, inputs: transaction.inputs.map((input) => ({ ...input, sequence: 2n ** 64n - 1n })) };
}

const idOf = (transaction: Transaction) => toHex(transactionId(transaction));

const submit = async (transaction: object, more: object = {}) => {
  const { status, json } = await ask(TRANSACTION, { transaction, ...more });
  return { status, json };
};

/** Mines on the API's template and hands the very text of it back; the hash of the new sink. */
async function mineThroughApi(payAddress: string): Promise<string> {
  const template = await ask(TEMPLATE, { payAddress, extraData: 'test' });
  const { status, json } = await ask(BLOCK, template.text);
  expect({ status, json }).toEqual({ status: 200, json: { rejectReason: 'NONE' } });
  const { sink } = await harness.node.call('getSink', {});
  await harness.atRest();
  return sink;
}

const minerAddress = () => scriptToAddress(takeUtxo().scriptPublicKey, 'kaspasim') ?? '';

interface BlockJson {
  transactions: { mass: string; inputs: { sequence: string }[]; verboseData: { transactionId: string } }[];
}

test('submitted payments are accepted through a submitted block template', async () => {
  const payments = [payment(), payment(), payment({ version: 1 }), payment({ version: 1, foundsCovenant: true })];
  for (const one of payments) {
    expect(await submit(submittedForm(one))).toEqual({ status: 200, json: { transactionId: idOf(one) } });
    expect((await api.post('/v1/rpc/getMempoolEntry', { transactionId: idOf(one) })).status).toBe(200);
  }
  const payAddress = minerAddress();
  const template = await ask(TEMPLATE, { payAddress });
  expect(template.text).toContain('"sequence":18446744073709551615');
  expect(template.text).not.toContain('"mass"');
  const hash = await mineThroughApi(payAddress);

  const { json } = await api.post('/v1/rpc/getBlock', { hash, includeTransactions: true });
  const inBlock = new Map(
    (json['block'] as BlockJson).transactions.map((one) => [one.verboseData.transactionId, one] as const),
  );
  for (const one of payments) {
    expect(one.storageMass).toBeGreaterThan(0n);
    expect(inBlock.get(idOf(one))).toMatchObject(submittedForm(one));
    expect((await api.post('/v1/rpc/getMempoolEntry', { transactionId: idOf(one) })).status).toBe(404);
  }

  await mineThroughApi(payAddress);
  const transactionIds = payments.map(idOf);
  const acceptance = await api.post('/v1/transactions/acceptance', { transactionIds });
  for (const entry of acceptance.json['transactions'] as object[]) expect(entry).toMatchObject({ isAccepted: true });
});

test('a template can be submitted before the UTXOs it spends are indexed', async () => {
  const payAddress = minerAddress();
  await harness.indexer.stop();
  const funding = payment();
  await submit(submittedForm(funding));
  const mine = async () => (await ask(BLOCK, (await ask(TEMPLATE, { payAddress })).text)).status;
  expect(await mine()).toBe(200);
  const { scriptPublicKey } = funding.outputs[1] ?? {};
  const entry = harness.simulatedDag.node.consensus.utxos
    .values()
    .find(({ outpoint }) => keyOf(outpoint) === `${idOf(funding)}:1`);
  if (entry === undefined || scriptPublicKey === undefined) throw new Error('the funding was not accepted');
  const onTop = buildTransaction({
    version: 0,
    utxos: [{ entry, redeemScript: undefined }],
    outputs: [
      { amount: 30_000_000, scriptPublicKey },
      { amount: Number(entry.amount - FEE) - 30_000_000, scriptPublicKey },
    ],
    payload: new Uint8Array(0),
  });
  await submit(submittedForm(onTop));
  expect(await mine()).toBe(200);
  harness.resumeIndexing();
  await harness.atRest();
  expect((await api.post('/v1/rpc/getMempoolEntry', { transactionId: idOf(onTop) })).status).toBe(404);
});

const rejected = async (transaction: Transaction, words: string, more: object = {}) => {
  const { status, json } = await submit(submittedForm(transaction), more);
  expect(status).toBe(400);
  expect(json['message']).toBe(`The node rejected the request: Rejected transaction ${idOf(transaction)}: ${words}`);
};

describe('a rejection by the node is a 400 with its message', () => {
  test('for a known transaction', async () => {
    const one = payment();
    expect((await submit(submittedForm(one))).status).toBe(200);
    await rejected(one, `transaction ${idOf(one)} is already in the mempool`);
  });

  test('for an orphan, unless orphans are allowed', async () => {
    const one = payment();
    const [input] = one.inputs;
    if (input === undefined) throw new Error('a payment spends something');
    const previousOutpoint = { transactionId: Buffer.alloc(32, 9), index: 0 };
    const orphan = { ...one, inputs: [{ ...input, previousOutpoint }] };
    await rejected(orphan, `transaction ${idOf(orphan)} is an orphan where orphan is disallowed`);
    expect(await submit(submittedForm(orphan), { allowOrphan: true })).toMatchObject({ status: 200 });
    const { json } = await api.post('/v1/rpc/getMempoolEntries', {
      includeOrphanPool: true,
      filterTransactionPool: true,
    });
    expect(json).toMatchObject({
      entries: [{ isOrphan: true, transaction: { verboseData: { transactionId: idOf(orphan) } } }],
    });
  });

  test('for a wrong signature', async () => {
    await rejected(
      withOtherSignatures(payment(), { broken: true }),
      'failed to verify the signature script: false stack entry at end of script execution',
    );
  });

  test('for an invalid block', async () => {
    const template = await ask(TEMPLATE, { payAddress: minerAddress() });
    const text = template.text.replace(/"hashMerkleRoot":"[0-9a-f]{64}"/, `"hashMerkleRoot":"${'ab'.repeat(32)}"`);
    const { status, json } = await ask(BLOCK, text);
    expect(status).toBe(400);
    expect(json['message']).toBe('The node rejected the request: Block was not submitted: block is invalid');
  });
});

test('a storage mass that cannot be computed is requested in a 400', async () => {
  const template = await ask(TEMPLATE, { payAddress: minerAddress() });
  const { block } = template.json as { block: { header: object; transactions: object[] } };
  const [coinbase] = block.transactions;
  const one = payment();
  const stranger = {
    ...one,
    inputs: one.inputs.map((input) => ({
      ...input,
      previousOutpoint: { transactionId: Buffer.alloc(32, 9), index: 0 },
    })),
  };
  const { mass: _, ...withoutMass } = submittedForm(stranger);
  const { status, json } = await ask(BLOCK, { block: { ...block, transactions: [coinbase, withoutMass] } });
  expect(status).toBe(400);
  expect(json['details']).toMatchObject([{ path: 'block.transactions.1.mass' }]);
});

test('a read-only key gets a 403 for submissions before the body is checked, and reads like any other', async () => {
  const { key } = await createKey(harness.database.kysely, { name: 'reader', readOnly: true });
  const reader = new ApiClient(harness.api.url, key);
  const one = payment();
  for (const [path, body] of [
    [TRANSACTION, { transaction: submittedForm(one) }],
    [BLOCK, '{'],
  ] as const) {
    const refused = await reader.request(path, { body });
    expect(refused.status, path).toBe(403);
    expect(refused.json).toEqual({
      statusCode: 403,
      message: 'The API key is read-only: it may not submit to the network',
    });
    expect(refused.headers.get('x-request-cost-ru')).toBe('0.1');
  }
  const { status } = await api.post('/v1/rpc/getMempoolEntry', { transactionId: idOf(one) });
  expect(status).toBe(404);
  expect((await reader.request('/v1/rpc/getSink')).status).toBe(200);
  expect((await reader.request(TEMPLATE, { body: { payAddress: minerAddress() } })).status).toBe(200);
});

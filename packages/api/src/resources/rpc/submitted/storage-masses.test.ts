/**
 * Where the mass comes from while the UTXOs are not indexed yet; that of indexed ones is tested
 * over HTTP (test/api).
 */
import { storageMass, toHex, transactionId } from '@kasgres/kaspa';
import { NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { expect, it } from 'vitest';
import type { Services } from '../../../services.ts';
import { completeStorageMasses } from './storage-masses.ts';
import type { SubmittedTransaction } from './transaction.ts';

const SCRIPT = { version: 0, script: new Uint8Array(34) };
const UTXO = { amount: 500_000_000n, scriptPublicKey: SCRIPT, covenant: undefined };
const FUNDING_ID = new Uint8Array(32).fill(1);

const transaction: SubmittedTransaction = {
  version: 0,
  inputs: [
    {
      previousOutpoint: { transactionId: FUNDING_ID, index: 3 },
      signatureScript: Uint8Array.of(0x41),
      sequence: 0n,
      sigOpCount: 1,
      computeBudget: 0,
    },
  ],
  outputs: [
    { amount: 100_000_000n, scriptPublicKey: SCRIPT, covenant: undefined },
    { amount: 20_000_000n, scriptPublicKey: SCRIPT, covenant: undefined },
  ],
  lockTime: 0n,
  subnetworkId: new Uint8Array(20),
  gas: 0n,
  payload: new Uint8Array(0),
  storageMass: undefined,
};

const utxoRow = {
  transaction_id: Buffer.from(FUNDING_ID),
  index: 3,
  amount: UTXO.amount,
  version: 0,
  script: Buffer.from(SCRIPT.script),
  covenant_id: null as Buffer | null,
};

/** Makes an index with these rows, and a node with this response. */
function services(rows: (typeof utxoRow)[], respond: (request: object) => object): Pick<Services, 'index' | 'node'> {
  const index = { read: async () => rows };
  const node = { call: async (_op: string, request: object) => respond(request) };
  return { index, node } as unknown as Pick<Services, 'index' | 'node'>;
}

const neverAsked = () => {
  throw new Error('the node was asked');
};
const notInMempool = () => {
  throw new NodeRpcError('getMempoolEntry', `Transaction ${'ab'.repeat(32)} not found`);
};
const isAway = () => {
  throw new NodeUnavailableError('connect ECONNREFUSED');
};
const massesOf = async (rows: (typeof utxoRow)[], respond: (request: object) => object, one = transaction) =>
  (await completeStorageMasses(services(rows, respond), [one])).map((complete) => complete.storageMass);

it('keeps a given mass', async () => {
  expect(await massesOf([], neverAsked, { ...transaction, storageMass: 7n })).toEqual([7n]);
});

it('gives a coinbase no mass', async () => {
  expect(await massesOf([], neverAsked, { ...transaction, inputs: [] })).toEqual([0n]);
});

it('computes the mass from indexed UTXOs', async () => {
  const expected = storageMass([UTXO], transaction.outputs);
  expect(expected).toBeGreaterThan(0n);
  expect(await massesOf([utxoRow], neverAsked)).toEqual([expected]);
});

it('considers the covenant of a spent UTXO', async () => {
  const covenant_id = Buffer.alloc(32, 2);
  const covenant = { authorizingInput: 0, covenantId: covenant_id };
  const expected = storageMass([{ ...UTXO, covenant }], transaction.outputs);
  expect(expected).not.toBe(storageMass([UTXO], transaction.outputs));
  expect(await massesOf([{ ...utxoRow, covenant_id }], neverAsked)).toEqual([expected]);
});

it('finds the mass in the mempool while a UTXO is not indexed', async () => {
  const txId = toHex(transactionId({ ...transaction, storageMass: 0n }));
  const inMempool = (request: object) => {
    expect(request).toEqual({ txId, includeOrphanPool: false, filterTransactionPool: false });
    return { entry: { transaction: { storageMass: 42n } } };
  };
  expect(await massesOf([], inMempool)).toEqual([42n]);
});

it('responds with a 400 if the mass cannot be found', async () => {
  await expect(massesOf([], notInMempool)).rejects.toMatchObject({
    statusCode: 400,
    details: [{ path: 'block.transactions.0.mass' }],
  });
});

it('fails if the node is unavailable', async () => {
  await expect(massesOf([], isAway)).rejects.toBeInstanceOf(NodeUnavailableError);
});

it('gives no mass to an output without an amount', async () => {
  const outputs = [{ amount: 0n, scriptPublicKey: SCRIPT, covenant: undefined }];
  expect(await massesOf([utxoRow], neverAsked, { ...transaction, outputs })).toEqual([0n]);
});

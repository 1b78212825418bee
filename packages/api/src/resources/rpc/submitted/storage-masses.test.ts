/** Where the mass comes from while the UTXOs are not indexed yet; that of indexed ones is tested over HTTP (test/api). */
import { storageMass, toHex, transactionId } from '@kasgres/kaspa';
import { NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { expect, test } from 'vitest';
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

/** An index that finds these rows, and a node that answers so. */
function services(rows: (typeof utxoRow)[], answer: (request: object) => object): Pick<Services, 'index' | 'node'> {
  const index = { read: async () => rows };
  const node = { call: async (_op: string, request: object) => answer(request) };
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
const massesOf = async (rows: (typeof utxoRow)[], answer: (request: object) => object, one = transaction) =>
  (await completeStorageMasses(services(rows, answer), [one])).map((complete) => complete.storageMass);

test('one that was given stays, whatever it is', async () => {
  expect(await massesOf([], neverAsked, { ...transaction, storageMass: 7n })).toEqual([7n]);
});

test('a coinbase spends nothing and has none', async () => {
  expect(await massesOf([], neverAsked, { ...transaction, inputs: [] })).toEqual([0n]);
});

test('it follows from indexed UTXOs', async () => {
  const expected = storageMass([UTXO], transaction.outputs);
  expect(expected).toBeGreaterThan(0n);
  expect(await massesOf([utxoRow], neverAsked)).toEqual([expected]);
});

test('a covenant of a spent UTXO counts', async () => {
  const covenant_id = Buffer.alloc(32, 2);
  const covenant = { authorizingInput: 0, covenantId: covenant_id };
  const expected = storageMass([{ ...UTXO, covenant }], transaction.outputs);
  expect(expected).not.toBe(storageMass([UTXO], transaction.outputs));
  expect(await massesOf([{ ...utxoRow, covenant_id }], neverAsked)).toEqual([expected]);
});

test('while a UTXO is not indexed, the mempool has the transaction', async () => {
  const txId = toHex(transactionId({ ...transaction, storageMass: 0n }));
  const inMempool = (request: object) => {
    expect(request).toEqual({ txId, includeOrphanPool: false, filterTransactionPool: false });
    return { entry: { transaction: { storageMass: 42n } } };
  };
  expect(await massesOf([], inMempool)).toEqual([42n]);
});

test('where nothing tells, the mass is asked for', async () => {
  await expect(massesOf([], notInMempool)).rejects.toMatchObject({
    statusCode: 400,
    details: [{ path: 'block.transactions.0.mass' }],
  });
});

test('a node that is away is no answer', async () => {
  await expect(massesOf([], isAway)).rejects.toBeInstanceOf(NodeUnavailableError);
});

test('an output of nothing has no mass, and no end of the process either', async () => {
  const outputs = [{ amount: 0n, scriptPublicKey: SCRIPT, covenant: undefined }];
  expect(await massesOf([utxoRow], neverAsked, { ...transaction, outputs })).toEqual([0n]);
});

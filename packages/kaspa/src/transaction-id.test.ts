import { describe, expect, test } from 'vitest';
import { fromHex, toHex } from './format.ts';
import type { Transaction } from './model.ts';
import { recordedBlocks, toTransaction } from './testing/recorded-blocks.ts';
import {
  COINBASE_SUBNETWORK,
  isCoinbase,
  NATIVE_SUBNETWORK,
  transactionHash,
  transactionHashBeforeCrescendo,
  transactionId,
} from './transaction-id.ts';

const id = (transaction: Transaction) => toHex(transactionId(transaction));
const hash = (transaction: Transaction) => toHex(transactionHash(transaction));

const recorded = recordedBlocks.flatMap(({ transactions }) => transactions);

describe('every recorded transaction', () => {
  test.each(recorded)('$verboseData.transactionId has its id', (transaction) => {
    expect(id(toTransaction(transaction))).toBe(transaction.verboseData.transactionId);
  });

  test.each(recorded)('$verboseData.transactionId has its hash', (transaction) => {
    expect(hash(toTransaction(transaction))).toBe(transaction.verboseData.hash);
  });
});

test('only the first transaction of a block is a coinbase', () => {
  const found = recordedBlocks.map(({ transactions }) => transactions.map(toTransaction).map(isCoinbase));
  expect(found).toEqual(recordedBlocks.map(({ transactions }) => transactions.map((_, index) => index === 0)));
  expect(isCoinbase({ subnetworkId: NATIVE_SUBNETWORK })).toBe(false);
  expect(isCoinbase({ subnetworkId: fromHex('0100') })).toBe(false);
});

/** The node's own test vectors (rusty-kaspa, consensus/core/src/hashing/tx.rs). */
describe('the test vectors of the reference implementation', () => {
  const bare: Transaction = {
    version: 0,
    inputs: [],
    outputs: [],
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload: fromHex(''),
    storageMass: 0n,
  };
  const input = {
    previousOutpoint: {
      transactionId: fromHex('59b3d6dc6cdc660c389c3fdb5704c48c598d279cdf1bab54182db586a4c95dd5'),
      index: 2,
    },
    signatureScript: Uint8Array.of(1, 2),
    sequence: 7n,
    sigOpCount: 5,
    computeBudget: 0,
  };
  const output = {
    amount: 1564n,
    scriptPublicKey: { version: 7, script: Uint8Array.of(1, 2, 3, 4, 5) },
    covenant: undefined,
  };

  test.each([
    {
      name: 'an empty transaction',
      transaction: bare,
      expectedId: '2c18d5e59ca8fc4c23d9560da3bf738a8f40935c11c162017fbf2c907b7e665c',
      expectedHash: 'c9e29784564c269ce2faaffd3487cb4684383018ace11133de082dce4bb88b0b',
    },
    {
      name: 'an input, an output, lock time and gas',
      transaction: { ...bare, inputs: [input], outputs: [output], lockTime: 54n, gas: 3n },
      expectedId: 'c9dd78e818445f617a28348d6db752142e2fab440effa58140ad2773e638b628',
      expectedHash: '1be9978bcab9424f15adac6fca0a64c3f56344a7cd0ec92a225496e19a0d122c',
    },
    {
      name: 'a coinbase',
      transaction: { ...bare, outputs: [output], lockTime: 54n, gas: 3n, subnetworkId: COINBASE_SUBNETWORK },
      expectedId: '2578783ec93c3a02414a228e10b1b5af298623254775f972f97df08d4ec28c8f',
      expectedHash: 'dffa96c75ef9d17520991fc6d88813531e230488e75b65f65ce958f2d54d2451',
    },
  ])('$name', ({ transaction, expectedId, expectedHash }) => {
    expect(id(transaction)).toBe(expectedId);
    expect(hash(transaction)).toBe(expectedHash);
    // These hashes are from before Crescendo, and then a storage mass changed nothing.
    expect(toHex(transactionHashBeforeCrescendo({ ...transaction, storageMass: 7n }))).toBe(expectedHash);
  });
});

describe.each([0, 1])('in version %i', (version) => {
  const original = recorded
    .map(toTransaction)
    .find(({ inputs, ...rest }) => rest.version === version && inputs.length > 0);
  if (original === undefined) throw new Error(`no recorded payment of version ${version}`);
  const withInputs = (change: Partial<Transaction['inputs'][number]>): Transaction => ({
    ...original,
    inputs: original.inputs.map((input) => ({ ...input, ...change })),
  });

  test.each([
    ['a signature script', withInputs({ signatureScript: Uint8Array.of(1) })],
    ['the script costs', withInputs({ sigOpCount: 77, computeBudget: 77 })],
    ['the storage mass', { ...original, storageMass: original.storageMass + 1n }],
  ])('%s belongs to the hash but not to the id', (_, changed) => {
    expect(id(changed)).toBe(id(original));
    expect(hash(changed)).not.toBe(hash(original));
  });

  test.each([
    ['the payload', { ...original, payload: Uint8Array.of(1) }],
    ['the lock time', { ...original, lockTime: 2n ** 64n - 1n }],
    ['a sequence', withInputs({ sequence: 2n ** 64n - 1n })],
    ['an output', { ...original, outputs: original.outputs.slice(1) }],
  ])('%s belongs to both', (_, changed) => {
    expect(id(changed)).not.toBe(id(original));
    expect(hash(changed)).not.toBe(hash(original));
  });
});

test('it hashes a transaction larger than all before it, and the next one', () => {
  const [first] = recorded;
  if (first === undefined) throw new Error('nothing recorded');
  const small = toTransaction(first);
  const large = { ...small, payload: new Uint8Array(300_000).fill(7) };
  expect(hash(large)).not.toBe(first.verboseData.hash);
  expect(hash(small)).toBe(first.verboseData.hash);
});

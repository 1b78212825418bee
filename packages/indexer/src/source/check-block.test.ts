/** Invariant 10: only fields that a block's hash commits to are accepted. */
import {
  genesisBlock,
  getNetwork,
  headerHash,
  merkleRoot,
  type Transaction,
  transactionHash,
  transactionId,
} from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { describe, expect, test } from 'vitest';
import { findFault } from './check-block.ts';

const genesis = genesisBlock(getNetwork('simnet'));

const payment: Transaction = {
  version: 1,
  inputs: [
    {
      previousOutpoint: { transactionId: new Uint8Array(32).fill(7), index: 1 },
      signatureScript: Uint8Array.of(1, 2, 3),
      sequence: 0n,
      sigOpCount: 0,
      computeBudget: 10,
    },
  ],
  outputs: [{ amount: 5n, scriptPublicKey: { version: 0, script: Uint8Array.of(0x51) }, covenant: undefined }],
  lockTime: 0n,
  subnetworkId: new Uint8Array(20),
  gas: 0n,
  payload: Uint8Array.of(9),
  storageMass: 100n,
};

/** A block that is whole, with a version 1 payment beside the coinbase. */
function wholeBlock(): RpcBlock {
  const transactions = [...genesis.transactions, structuredClone(payment)].map(
    (transaction): RpcTransaction => ({
      ...transaction,
      transactionId: transactionId(transaction),
      hash: transactionHash(transaction),
      computeMass: 0n,
    }),
  );
  const header = { ...genesis.header, hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)) };
  return {
    hash: headerHash(header),
    header,
    transactions,
    difficulty: 1,
    selectedParentHash: new Uint8Array(32),
    mergeSetBluesHashes: [],
    mergeSetRedsHashes: [],
    childrenHashes: [],
    transactionIds: [],
    blueScore: 0n,
    isHeaderOnly: false,
    isChainBlock: true,
  };
}

/** As a node of today has it: with a storage mass, and a hash of that. */
const oldBlock = (daaScore: bigint): RpcBlock => {
  const block = wholeBlock();
  block.header.daaScore = daaScore;
  const old = { ...payment, version: 0, storageMass: 0n };
  const leaves = [at(block, 0).hash, transactionHash(old)];
  const now = { ...old, storageMass: 5_000n };
  block.transactions[1] = { ...now, transactionId: transactionId(now), hash: transactionHash(now), computeMass: 0n };
  block.header.hashMerkleRoot = merkleRoot(leaves);
  block.hash = headerHash(block.header);
  return block;
};

describe('a block from before Crescendo, whose merkle root has no storage mass', () => {
  const crescendo = { activationDaaScore: 1_000n, targetTimePerBlockMsBefore: 1_000 };
  test('is accepted', () => {
    expect(findFault(oldBlock(999n), crescendo)).toBeUndefined();
  });

  test.each([
    ['after it', 1_000n, crescendo],
    ['on a network that never was without it', 999n, undefined],
  ])('has one %s', (_, daaScore, ofNetwork) => {
    expect(findFault(oldBlock(daaScore), ofNetwork)).toContain('do not give its merkle root');
  });

  test('is refused with another signature, id or hash', () => {
    for (const spoil of [
      (block: RpcBlock) => (at(block).inputs = payment.inputs.map((input) => ({ ...input, sequence: 1n }))),
      (block: RpcBlock) => (at(block).transactionId = new Uint8Array(32)),
      (block: RpcBlock) => (at(block).hash = new Uint8Array(32)),
    ]) {
      const block = oldBlock(999n);
      spoil(block);
      expect(findFault(block, crescendo)).toBeDefined();
    }
  });
});

test('it finds no fault in a complete block', () => {
  expect(findFault(wholeBlock())).toBeUndefined();
});

test.each<[string, (block: RpcBlock) => unknown]>([
  ['has only its header', (block) => Object.assign(block, { isHeaderOnly: true })],
  ['has no transactions', (block) => Object.assign(block, { transactions: [] })],
  ['has a header that does not hash to its name', (block) => (block.header.timestamp += 1n)],
  ['has transactions that do not give its merkle root', (block) => block.transactions.pop()],
  ['has transactions that do not give its merkle root', (block) => block.transactions.reverse()],
  [
    'has a transaction that does not hash to its name',
    (block) => (at(block).outputs[0] as { amount: bigint }).amount++,
  ],
  ['has a transaction that does not hash to its name', (block) => (at(block).storageMass += 1n)],
  ['has a transaction that does not hash to its name', (block) => at(block).inputs.pop()],
  ['has a transaction that does not hash to its name', (block) => (at(block).transactionId = new Uint8Array(32))],
])('a block that %s is refused', (fault, spoil) => {
  const block = wholeBlock();
  spoil(block);
  expect(findFault(block)).toContain(fault);
});

function at(block: RpcBlock, index = 1): RpcTransaction {
  return block.transactions[index] as RpcTransaction;
}

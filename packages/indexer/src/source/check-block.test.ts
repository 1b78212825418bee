/** Invariant 10: only fields that a block's hash commits to are accepted. */
import {
  genesisBlock,
  getNetwork,
  headerHash,
  MAX_SOMPI,
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
  block.transactions[1] = { ...now, transactionId: transactionId(now), hash: transactionHash(now) };
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
  ['has a score out of range', (block) => (block.header.blueScore = 2n ** 64n - 1n)],
  ['has a score out of range', (block) => (block.header.daaScore = 2n ** 63n)],
  ['has a timestamp out of range', (block) => (block.header.timestamp = -1n)],
  ['has a timestamp out of range', (block) => (block.header.timestamp = 2n ** 63n - 1n)],
  ['has a target out of range', (block) => (block.header.bits = 0x217fffff)],
  ['has a target out of range', (block) => (block.header.bits = 0xff000001)],
  [
    'has more than 256 parents',
    (block) => (block.header.parentsByLevel = [Array.from({ length: 257 }, () => hashOf(1))]),
  ],
  [
    'has more than 256 levels of parents',
    (block) => (block.header.parentsByLevel = Array.from({ length: 257 }, () => [])),
  ],
  ['has a mergeset and no parents', (block) => (block.mergeSetRedsHashes = [hashOf(1)])],
])('a block that %s is refused', (fault, spoil) => {
  const block = wholeBlock();
  spoil(block);
  expect(findFault(block)).toContain(fault);
});

function at(block: RpcBlock, index = 1): RpcTransaction {
  return block.transactions[index] as RpcTransaction;
}

const hashOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** A block with two parents that merges another block beside them. */
function mergingBlock(change: (block: RpcBlock) => unknown = () => undefined): RpcBlock {
  const block = wholeBlock();
  block.header.parentsByLevel = [[hashOf(1), hashOf(2)]];
  block.hash = headerHash(block.header);
  block.selectedParentHash = hashOf(2);
  block.mergeSetBluesHashes = [hashOf(2), hashOf(3)];
  block.mergeSetRedsHashes = [hashOf(1)];
  change(block);
  return block;
}

test('it finds no fault in a block that merges its parents and others', () => {
  expect(findFault(mergingBlock())).toBeUndefined();
});

test.each<[string, (block: RpcBlock) => unknown]>([
  ['a mergeset that does not begin with its selected parent', (block) => (block.selectedParentHash = hashOf(1))],
  ['a mergeset that does not begin with its selected parent', (block) => (block.mergeSetBluesHashes = [])],
  ['a mergeset that does not begin with its selected parent', (block) => block.mergeSetBluesHashes.reverse()],
  [
    'a selected parent that is not among its parents',
    (block) => {
      block.selectedParentHash = hashOf(3);
      block.mergeSetBluesHashes = [hashOf(3), hashOf(2)];
    },
  ],
  ['does not merge one of its parents', (block) => (block.mergeSetRedsHashes = [])],
])('a block whose verbose data have %s is refused', (fault, spoil) => {
  expect(findFault(mergingBlock(spoil))).toContain(fault);
});

/** The hashes follow the amounts, as in a block that a node made up. */
function blockCreating(...amounts: bigint[]): RpcBlock {
  const block = wholeBlock();
  const [output] = payment.outputs as [Transaction['outputs'][number]];
  const creating = { ...payment, outputs: amounts.map((amount) => ({ ...output, amount })) };
  block.transactions[1] = { ...creating, transactionId: transactionId(creating), hash: transactionHash(creating) };
  block.header.hashMerkleRoot = merkleRoot(block.transactions.map(({ hash }) => hash));
  block.hash = headerHash(block.header);
  return block;
}

test('outputs of a transaction may have the maximum supply together, and no more', () => {
  expect(findFault(blockCreating(MAX_SOMPI))).toBeUndefined();
  expect(findFault(blockCreating(MAX_SOMPI - 1n, 1n))).toBeUndefined();
  for (const amounts of [[MAX_SOMPI + 1n], [MAX_SOMPI, 1n], [2n ** 64n - 1n]]) {
    expect(findFault(blockCreating(...amounts))).toContain('creates more than the maximum supply');
  }
});

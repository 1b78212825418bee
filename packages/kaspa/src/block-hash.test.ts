import { describe, expect, test } from 'vitest';
import { headerHash, merkleRoot, ZERO_HASH } from './block-hash.ts';
import { toHex } from './format.ts';
import { hashMerkleBranch } from './keyed-hash.ts';
import { recordedBlocks, toHeader, toTransaction } from './testing/recorded-blocks.ts';
import { transactionHash } from './transaction-id.ts';

const leaf = (byte: number) => new Uint8Array(32).fill(byte);
const pair = (left: Uint8Array, right: Uint8Array) => hashMerkleBranch(Buffer.concat([left, right]));

describe('every recorded block', () => {
  test.each(recordedBlocks)('$header.hash has the hash of its header', ({ header }) => {
    expect(toHex(headerHash(toHeader(header)))).toBe(header.hash);
  });

  test.each(recordedBlocks)('$header.hash has the merkle root of its transactions', ({ header, transactions }) => {
    const hashes = transactions.map((transaction) => transactionHash(toTransaction(transaction)));
    expect(toHex(merkleRoot(hashes))).toBe(header.hashMerkleRoot);
  });
});

describe('the merkle tree', () => {
  test('has a root of zeros for no hash', () => {
    expect(merkleRoot([])).toEqual(ZERO_HASH);
  });

  test('has a single hash as its root', () => {
    expect(merkleRoot([leaf(1)])).toEqual(leaf(1));
  });

  test('pairs the last of three hashes with zeros', () => {
    expect(merkleRoot([leaf(1), leaf(2), leaf(3)])).toEqual(pair(pair(leaf(1), leaf(2)), pair(leaf(3), ZERO_HASH)));
  });

  test('pads five hashes at two levels with zeros, not with hashes of zeros', () => {
    const firstFour = pair(pair(leaf(1), leaf(2)), pair(leaf(3), leaf(4)));
    const fifth = pair(pair(leaf(5), ZERO_HASH), ZERO_HASH);
    expect(merkleRoot([1, 2, 3, 4, 5].map(leaf))).toEqual(pair(firstFour, fifth));
  });

  test('does not modify the given hashes', () => {
    const leaves = [leaf(1), leaf(2), leaf(3)];
    merkleRoot(leaves);
    expect(leaves).toEqual([leaf(1), leaf(2), leaf(3)]);
  });
});

test('the nonce, the time and each level of parents change the hash', () => {
  const recorded = recordedBlocks.find(({ header }) => header.parents.length > 1);
  if (recorded === undefined) throw new Error('no recorded block with parents on several levels');
  const header = toHeader(recorded.header);
  const hashes = [
    header,
    { ...header, nonce: header.nonce + 1n },
    { ...header, timestamp: header.timestamp + 1n },
    { ...header, blueWork: 0n },
    { ...header, parentsByLevel: header.parentsByLevel.slice(0, -1) },
    { ...header, parentsByLevel: [header.parentsByLevel.flat()] },
  ].map((changed) => toHex(headerHash(changed)));
  expect(new Set(hashes).size).toBe(hashes.length);
});

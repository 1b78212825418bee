import type { Hash } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import { expect, test } from 'vitest';
import type { AddedChainBlock } from '../chain-update.ts';
import { MAX_BYTES, RecentBlocks } from './recent-blocks.ts';

/** A chain block that merges the one with the number before it. */
function chainBlock(n: number, responseBytes = 32): AddedChainBlock {
  const block = {
    hash: hashOf(n, responseBytes),
    mergeSetBluesHashes: [hashOf(n - 1)],
    mergeSetRedsHashes: [] as Hash[],
  };
  return { block: block as RpcBlock, mergeSet: [], acceptedTransactionIds: [] };
}

/** @param responseBytes of the memory that all parts of a response share */
function hashOf(n: number, responseBytes = 32): Hash {
  return new Uint8Array(new ArrayBuffer(responseBytes), 0, 32).fill(n);
}

test('it returns removed chain blocks with what they merged, if all of these are among the latest', () => {
  const recent = new RecentBlocks();
  recent.add([1, 2, 3].map((n) => chainBlock(n)));
  expect(recent.findRemoved([])).toEqual([]);
  const found = recent.findRemoved([hashOf(3), hashOf(2)]);
  expect(found?.map(({ hash }) => hash[0])).toEqual([3, 2, 2, 1]);
  expect(recent.findRemoved([hashOf(3), hashOf(2), hashOf(1)])).toBeUndefined();
  expect(recent.findRemoved([hashOf(4)])).toBeUndefined();
});

test('it keeps 32 blocks', () => {
  const recent = new RecentBlocks();
  recent.add(Array.from({ length: 40 }, (_, n) => chainBlock(n + 1)));
  expect(recent.find(hashOf(8))).toBeUndefined();
  expect(recent.find(hashOf(9))).toBeDefined();
  recent.add([chainBlock(41)]);
  expect(recent.find(hashOf(9))).toBeUndefined();
  expect(recent.find(hashOf(41))).toBeDefined();
  recent.clear();
  expect(recent.find(hashOf(41))).toBeUndefined();
});

test('it keeps fewer blocks of large responses', () => {
  const recent = new RecentBlocks();
  recent.add([1, 2, 3, 4].map((n) => chainBlock(n, MAX_BYTES / 2)));
  expect([1, 2, 3, 4].map((n) => recent.find(hashOf(n)) !== undefined)).toEqual([false, false, true, true]);
  recent.add([chainBlock(5, MAX_BYTES + 1)]);
  expect(recent.find(hashOf(5))).toBeUndefined();
});

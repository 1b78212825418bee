import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { expect, test } from 'vitest';
import type { AddedChainBlock } from '../chain-update.ts';
import { OpenBatch } from './open-batch.ts';

const BLOCK = 10_000;

/**
 * Makes a chain block that merges one block, with the given number of transactions and bytes of
 * payload.
 */
function merging(transactions: number, payload = 0): AddedChainBlock {
  const transaction = { inputs: [], outputs: [], payload: new Uint8Array(payload) } as unknown as RpcTransaction;
  const block = { transactions: Array.from({ length: transactions }, () => transaction) } as RpcBlock;
  return { block, mergeSet: [block], acceptedTransactionIds: [] };
}

test('it is full by transactions or by bytes', () => {
  const batch = new OpenBatch([], { transactions: 10, bytes: 1_000_000 });
  batch.push(merging(9));
  expect(batch.isFull).toBe(false);
  batch.push(merging(1));
  expect(batch.isFull).toBe(true);
  batch.take();
  batch.push(merging(1, 900_000));
  expect(batch.isFull).toBe(false);
  batch.push(merging(1, 100_000));
  expect(batch.isFull).toBe(true);
});

test('it counts small transactions and outputs as the memory that they take', () => {
  const batch = new OpenBatch([], { transactions: 1e9, bytes: 1_000 * BLOCK });
  const outputs = Array.from({ length: 10_000 }, () => ({ scriptPublicKey: { script: new Uint8Array(1) } }));
  const transaction = { inputs: [], outputs, payload: new Uint8Array() } as unknown as RpcTransaction;
  const block = { transactions: [transaction] } as RpcBlock;
  for (let merged = 0; merged < 5; merged += 1) batch.push({ block, mergeSet: [block], acceptedTransactionIds: [] });
  expect(batch.isFull).toBe(true);
});

test('it returns the removed blocks first, and each block once', () => {
  const removed = [new Uint8Array(32)];
  const batch = new OpenBatch(removed, { transactions: 1, bytes: 1 });
  expect(batch.isEmpty).toBe(true);
  const [first, second] = [merging(1), merging(1)];
  batch.push(first);
  expect(batch.take()).toEqual({ removed, added: [first] });
  expect([batch.isEmpty, batch.isFull]).toEqual([true, false]);
  batch.push(second);
  expect(batch.take()).toEqual({ removed: [], added: [second] });
});

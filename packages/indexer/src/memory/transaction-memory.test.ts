import { expect, test } from 'vitest';
import { TransactionMemory } from './transaction-memory.ts';

const hashOf = (key: number): Uint8Array => new Uint8Array(32).fill(key % 251);

function fill(memory: TransactionMemory, from: number, to: number): void {
  for (let key = from; key < to; key += 1) {
    memory.add(hashOf(key));
    for (let index = 0; index < key % 4; index += 1) memory.addOutput(BigInt(key) * 10n + BigInt(index), key + index);
  }
}

test('it returns hashes and outputs from many chunks', () => {
  const memory = new TransactionMemory(7, 1_000_000);
  fill(memory, 7, 50_000);
  for (let key = 7; key < 50_000; key += 13) {
    expect(memory.findHash(key)).toEqual(hashOf(key));
    for (let index = 0; index < key % 4; index += 1) {
      expect(memory.findOutput(key, index)).toEqual({ amount: BigInt(key) * 10n + BigInt(index), script: key + index });
    }
    expect(memory.findOutput(key, key % 4)).toBeUndefined();
  }
  expect(memory.has(6)).toBe(false);
  expect(memory.has(50_000)).toBe(false);
  expect(memory.forgot).toBe(false);
});

test('it evicts the oldest transactions when the outputs exceed the bound', () => {
  const memory = new TransactionMemory(1, 40_000);
  fill(memory, 1, 100_000);
  memory.evict(1);
  expect(memory.has(1)).toBe(true);
  memory.evict(100_000);
  expect(memory.forgot).toBe(true);
  expect(memory.has(1)).toBe(false);
  expect(memory.findOutput(3, 0)).toBeUndefined();
  expect(memory.findOutput(99_999, 0)).toEqual({ amount: 999_990n, script: 99_999 });
});

test('it evicts the oldest transactions when there are many without outputs', () => {
  const memory = new TransactionMemory(1, 40_000);
  for (let key = 1; key < 100_000; key += 1) memory.add(hashOf(key));
  memory.evict(100_000);
  expect(memory.forgot).toBe(true);
  expect(memory.has(60_000)).toBe(false);
  expect(memory.has(80_000)).toBe(true);
});

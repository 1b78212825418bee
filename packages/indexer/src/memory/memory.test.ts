import { COINBASE_SUBNETWORK, NATIVE_SUBNETWORK, toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { Memory } from './memory.ts';

const LIMIT = 10;

const hashOf = (n: number): Uint8Array => new Uint8Array(32).fill(n);

test('the cache has the predefined subnetworks of the schema', () => {
  const memory = new Memory(LIMIT, 0, true);
  expect(memory.subnetworks.get(toHex(NATIVE_SUBNETWORK))).toBe(0);
  expect(memory.subnetworks.get(toHex(COINBASE_SUBNETWORK))).toBe(1);
  expect(memory.isComplete).toBe(true);
});

test.each<[string, (memory: Memory, n: number) => void, (memory: Memory) => unknown]>([
  [
    'subnetworks',
    (memory, n) => memory.subnetworks.set(`lane ${n}`, n),
    (memory) => memory.subnetworks.get('lane 1') ?? memory.subnetworks.get(toHex(NATIVE_SUBNETWORK)),
  ],
  [
    'variants, however few transactions have them',
    (memory, n) => memory.variants.set(hashOf(n), 1),
    (memory) => memory.variants.get(hashOf(1)),
  ],
  [
    'the highest numbers of variants',
    (memory, n) => memory.lastVariants.set(n, 1),
    (memory) => memory.lastVariants.get(1),
  ],
  [
    'transactions from before the start that were written since',
    (memory, n) => memory.preBootstrapHashes.set(n, hashOf(n)),
    (memory) => memory.preBootstrapHashes.get(1),
  ],
])('it forgets the oldest of too many %s, and then no longer claims to know everything', (_, add, oldest) => {
  const memory = new Memory(LIMIT, 0, true);
  for (let n = 1; n <= 30; n += 1) {
    add(memory, n);
    memory.endBatch(0);
  }
  expect(oldest(memory)).toBeUndefined();
  expect(memory.isComplete).toBe(false);
});

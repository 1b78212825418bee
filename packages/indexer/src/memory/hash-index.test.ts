import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HashIndex } from './hash-index.ts';

const hashOf = (n: number): Uint8Array => createHash('sha256').update(String(n)).digest();

test('it finds exactly the hashes that were set, also after it grew', () => {
  const index = new HashIndex();
  for (let n = 0; n < 20_000; n += 1) index.set(hashOf(n), n);
  expect(index.size).toBe(20_000);
  for (let n = 0; n < 20_000; n += 1) expect(index.get(hashOf(n))).toBe(n);
  for (let n = 20_000; n < 21_000; n += 1) expect(index.get(hashOf(n))).toBeUndefined();
});

test('it behaves like a map, also for hashes that share most of their bytes', () => {
  const hash = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(31)).map(([value, fill, at]) => {
    const bytes = new Uint8Array(32).fill(fill);
    bytes[at] = value;
    return bytes;
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(hash, fc.nat(2 ** 40))), (entries) => {
      const index = new HashIndex();
      const map = new Map<string, number>();
      for (const [key, value] of entries) {
        index.set(key, value);
        map.set(Buffer.from(key).toString('hex'), value);
      }
      for (const [key] of entries) expect(index.get(key)).toBe(map.get(Buffer.from(key).toString('hex')));
      expect(index.size).toBe(map.size);
    }),
  );
});

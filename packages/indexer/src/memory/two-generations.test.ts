import { expect, test } from 'vitest';
import { TwoGenerations, WeightedMap } from './two-generations.ts';

test('it keeps every entry up to its bound', () => {
  const cache = new TwoGenerations(() => new Map<number, number>(), 100);
  for (let n = 0; n < 100; n += 1) {
    cache.set(n, n);
    cache.evict();
  }
  for (let n = 0; n < 100; n += 1) expect(cache.get(n)).toBe(n);
  expect(cache.forgot).toBe(false);
});

test('it evicts the oldest entries, reports it, and keeps those that are used', () => {
  const cache = new TwoGenerations(() => new Map<number, number>(), 100);
  for (let n = 0; n < 1_000; n += 1) {
    cache.set(n, n);
    cache.evict();
    if (n >= 150) expect(cache.get(150)).toBe(150);
  }
  expect(cache.forgot).toBe(true);
  expect(cache.get(500)).toBeUndefined();
  for (let n = 960; n < 1_000; n += 1) expect(cache.get(n)).toBe(n);
});

test('it evicts no entry that was set since the previous eviction', () => {
  const cache = new TwoGenerations(() => new Map<number, number>(), 10);
  for (let n = 0; n < 1_000; n += 1) cache.set(n, n);
  cache.evict();
  for (let n = 0; n < 1_000; n += 1) expect(cache.get(n)).toBe(n);
});

test('it sums the weights of a weighted map, and counts a replaced entry once', () => {
  const map = new WeightedMap<string, number>((key, value) => key.length + value);
  map.set('a', 1);
  map.set('bcd', 5);
  expect(map.size).toBe(10);
  for (let time = 0; time < 2; time += 1) map.set('a', 10);
  expect([map.size, map.get('a'), map.get('x')]).toEqual([19, 10, undefined]);
});

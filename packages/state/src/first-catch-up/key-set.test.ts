import { expect, test } from 'vitest';
import { KeySet } from './key-set.ts';

test('it yields each key once in ascending order, also of later generations', () => {
  const generation = 2 ** 36;
  const keys = [0, 1, 7, 8, 65_535, 65_536, generation, generation + 65_537, 3 * generation];
  const set = new KeySet();
  for (const key of [...keys].reverse()) set.add(key);
  for (const key of keys) set.add(key);
  expect([...set.pages(4)]).toEqual([keys.slice(0, 4), keys.slice(4, 8), keys.slice(8)]);
});

test('it has none at first', () => {
  expect([...new KeySet().pages(4)]).toEqual([]);
});

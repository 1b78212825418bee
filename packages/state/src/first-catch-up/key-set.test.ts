import { expect, test } from 'vitest';
import { KeySet } from './key-set.ts';

test('yields each key once, in ascending order, in pages', () => {
  const keys = new KeySet();
  expect([...keys.pages(2)]).toEqual([]);
  for (const key of [9, 0, 2 ** 20 + 3, 7, 9, 8]) keys.add(key);
  expect([...keys.pages(2)]).toEqual([[0, 7], [8, 9], [2 ** 20 + 3]]);
  expect([...keys.pages(5)]).toEqual([[0, 7, 8, 9, 2 ** 20 + 3]]);
});

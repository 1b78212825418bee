import { expect, it } from 'vitest';
import { LinkedList } from './linked-list.ts';

const valuesOf = (list: LinkedList<number>): number[] => [...list].map(({ value }) => value);

it('keeps values in order, whichever are removed', () => {
  const list = new LinkedList<number>();
  const items = [1, 2, 3, 4, 5].map((value) => list.add(value));
  const remove = (value: number): void => {
    const item = items[value - 1];
    if (item !== undefined) list.remove(item);
  };
  const removals: [value: number, left: number[]][] = [
    [3, [1, 2, 4, 5]],
    [1, [2, 4, 5]],
    [5, [2, 4]],
    [5, [2, 4]],
    [2, [4]],
    [4, []],
  ];
  for (const [value, left] of removals) {
    remove(value);
    expect([valuesOf(list), list.size, list.first?.value, list.last?.value]).toEqual([
      left,
      left.length,
      left[0],
      left.at(-1),
    ]);
  }
  list.add(6);
  expect(valuesOf(list)).toEqual([6]);
});

it('iterates over all values although each is removed when it is reached', () => {
  const list = new LinkedList<number>();
  for (const value of [1, 2, 3]) list.add(value);
  const seen: number[] = [];
  for (const item of list) {
    seen.push(item.value);
    list.remove(item);
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(list.size).toBe(0);
});

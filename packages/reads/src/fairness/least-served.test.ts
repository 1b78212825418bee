import { expect, it } from 'vitest';
import { LeastServed } from './least-served.ts';

function takeAll<T>(waiting: LeastServed<T>): T[] {
  const taken: T[] = [];
  for (let item = waiting.take(); item !== undefined; item = waiting.take()) taken.push(item);
  return taken;
}

it('lets callers take turns, and keeps the order of each', () => {
  const waiting = new LeastServed<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) waiting.add(item.charAt(0), item);
  expect(takeAll(waiting)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  expect(waiting.isEmpty).toBe(true);
});

it('serves a caller that asks for little before those that were served more', () => {
  const waiting = new LeastServed<string>();
  for (let count = 0; count < 100; count += 1) {
    waiting.add('a', 'a');
    waiting.add('b', 'b');
  }
  for (let count = 0; count < 51; count += 1) waiting.take();
  waiting.add('rare', 'rare');
  expect(waiting.take()).toBe('rare');
});

it('gives a caller with one item at a time no more than its share', () => {
  const waiting = new LeastServed<string>();
  for (let count = 0; count < 100; count += 1) waiting.add('many', 'many');
  const taken: (string | undefined)[] = [];
  for (let count = 0; count < 50; count += 1) {
    waiting.add('one at a time', 'one');
    while (taken.push(waiting.take()) && taken.at(-1) !== 'one');
  }
  expect(taken.filter((item) => item === 'one')).toHaveLength(50);
  expect(taken.filter((item) => item === 'many').length).toBeGreaterThanOrEqual(49);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadlines } from './deadlines.ts';

let passed: string[];
let deadlines: Deadlines<string>;

beforeEach(() => {
  vi.useFakeTimers();
  passed = [];
  deadlines = new Deadlines<string>(1000, (item) => passed.push(item));
});
afterEach(() => {
  vi.useRealTimers();
});

it('reports each item after the limit, and none that was removed before', () => {
  const [first] = ['a', 'b', 'c'].map((item) => {
    const deadline = deadlines.add(item);
    vi.advanceTimersByTime(100);
    return deadline;
  });
  if (first) deadlines.remove(first);
  vi.advanceTimersByTime(700);
  expect(passed).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(passed).toEqual(['b']);
  vi.advanceTimersByTime(100);
  expect(passed).toEqual(['b', 'c']);
});

it('reports items that are added after a pause, or while another one is reported', () => {
  deadlines.remove(deadlines.add('early'));
  vi.advanceTimersByTime(5000);
  expect(vi.getTimerCount()).toBe(0);
  const chained = new Deadlines<number>(1000, (item) => {
    passed.push(`${item}`);
    if (item < 2) chained.add(item + 1);
  });
  chained.add(1);
  vi.advanceTimersByTime(1999);
  expect(passed).toEqual(['1']);
  vi.advanceTimersByTime(1);
  expect(passed).toEqual(['1', '2']);
});

it('reports the other items after an error in one of them', () => {
  const failing = new Deadlines<string>(1000, (item) => {
    passed.push(item);
    if (item === 'a') throw new Error('no');
  });
  failing.add('a');
  failing.add('b');
  expect(() => vi.advanceTimersByTime(1000)).toThrow('no');
  vi.advanceTimersByTime(1);
  expect(passed).toEqual(['a', 'b']);
});

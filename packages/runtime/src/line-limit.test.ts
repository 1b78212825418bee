import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LineLimit } from './line-limit.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('it lets so many lines through each second, and says how many it left out', () => {
  const limit = new LineLimit(20);
  const omitted: number[] = [];
  const write = (): boolean => limit.admit((count) => omitted.push(count));
  const written = Array.from({ length: 7031 }, write).filter(Boolean);
  expect([written.length, omitted]).toEqual([20, []]);
  vi.advanceTimersByTime(1000);
  expect([write(), omitted]).toEqual([true, [7011]]);
  vi.advanceTimersByTime(5000);
  expect([write(), omitted]).toEqual([true, [7011]]);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { secondsUntilAllowed } from './quota.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 30, 23, 0, 0) });
});
afterEach(() => {
  vi.useRealTimers();
});

const keyWith = (period: 'day' | 'month', usedRu: number, since: string) => ({
  id: 7n,
  quota: { ru: 10, period },
  used: { ru: usedRu, since },
});
const unwritten = (ru: number) => ({ unwrittenRu: () => ru });

test('what is written and what is not count together, to the last tenth', () => {
  const key = keyWith('day', 9.7, '2026-01-30');
  expect(secondsUntilAllowed(key, 0.1, unwritten(0.2))).toBeUndefined();
  expect(secondsUntilAllowed(key, 0.1, unwritten(0.3))).toBe(3600);
  expect(secondsUntilAllowed(key, 0.5, unwritten(0))).toBe(3600);
});

test('a month ends with its last day', () => {
  expect(secondsUntilAllowed(keyWith('month', 10, '2026-01-01'), 0.1, unwritten(0))).toBe(25 * 3600);
});

test('what was looked up before midnight does not count after it', () => {
  const key = keyWith('day', 10, '2026-01-30');
  vi.setSystemTime(Date.UTC(2026, 0, 31));
  expect(secondsUntilAllowed(key, 0.1, unwritten(0))).toBeUndefined();
  expect(secondsUntilAllowed(keyWith('month', 10, '2026-01-01'), 0.1, unwritten(0))).toBe(24 * 3600);
});

test('a key without a quota may spend what its rate allows', () => {
  expect(secondsUntilAllowed({ id: 7n, quota: undefined, used: undefined }, 0.1, unwritten(1e9))).toBeUndefined();
});

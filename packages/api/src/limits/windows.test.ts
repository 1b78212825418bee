import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MemoryWindows } from './windows.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31) });
});
afterEach(() => {
  vi.useRealTimers();
});

const LIMIT = { hundredths: 100, seconds: 10 };

it('opens a window with a charge, sums up charges, and closes it', () => {
  const windows = new MemoryWindows();
  expect(windows.charge('a', LIMIT, 50)).toMatchObject({ charged: true, remaining: 50, endsInMs: 10_000 });
  vi.advanceTimersByTime(4100);
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: true, remaining: 40, endsInMs: 5900 });
  vi.advanceTimersByTime(5000);
  expect(windows.charge('a', LIMIT, 40)).toMatchObject({ charged: true, remaining: 0, endsInMs: 900 });
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: false, remaining: 0, endsInMs: 900 });
  vi.advanceTimersByTime(901);
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: true, remaining: 90, endsInMs: 10_000 });
});

it('does not charge a refused cost, so that a lower one may fit', () => {
  const windows = new MemoryWindows();
  windows.charge('a', LIMIT, 90);
  for (let time = 0; time < 5; time += 1) {
    expect(windows.charge('a', LIMIT, 50)).toMatchObject({ charged: false, remaining: 10 });
  }
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: true, remaining: 0 });
});

it('refuses a cost above the limit without opening a window', () => {
  const windows = new MemoryWindows();
  expect(windows.charge('a', LIMIT, 101)).toMatchObject({ charged: false, remaining: 100, endsInMs: 10_000 });
  vi.advanceTimersByTime(4000);
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: true, endsInMs: 10_000 });
});

it('separates buckets, and applies a changed limit to the open window', () => {
  const windows = new MemoryWindows();
  windows.charge('a', LIMIT, 100);
  expect(windows.charge('b', LIMIT, 100)).toMatchObject({ charged: true });
  expect(windows.charge('a', { ...LIMIT, hundredths: 250 }, 100)).toMatchObject({ charged: true, remaining: 50 });
  expect(windows.charge('a', { ...LIMIT, hundredths: 50 }, 10)).toMatchObject({ charged: false, remaining: 0 });
});

it('refunds a charge to its window only', () => {
  const windows = new MemoryWindows();
  const { window } = windows.charge('a', LIMIT, 60);
  windows.refund('a', window, 60);
  expect(windows.charge('a', LIMIT, 100)).toMatchObject({ charged: true, remaining: 0 });
  vi.advanceTimersByTime(10_001);
  windows.charge('a', LIMIT, 100);
  windows.refund('a', window, 60);
  expect(windows.charge('a', LIMIT, 10)).toMatchObject({ charged: false, remaining: 0 });
});

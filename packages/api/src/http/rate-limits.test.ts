import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMemoryCounter } from './rate-counters.ts';
import { RateLimits } from './rate-limits.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31) });
});
afterEach(() => {
  vi.useRealTimers();
});

const KEY = { id: 7n, rateRu: 1, windowSeconds: 10 };
const limits = () => new RateLimits(createMemoryCounter());

test('a window begins with a request, counts what is spent, and ends', async () => {
  const rates = limits();
  expect(await rates.spend(KEY, 0.5)).toEqual({ allowed: true, remainingRu: 0.5, resetSeconds: 10 });
  vi.advanceTimersByTime(4100);
  expect(await rates.spend(KEY, 0.1)).toEqual({ allowed: true, remainingRu: 0.4, resetSeconds: 6 });
  vi.advanceTimersByTime(5000);
  expect(await rates.spend(KEY, 0.4)).toEqual({ allowed: true, remainingRu: 0, resetSeconds: 1 });
  expect(await rates.spend(KEY, 0.1)).toEqual({ allowed: false, remainingRu: 0, resetSeconds: 1 });
  vi.advanceTimersByTime(901);
  expect(await rates.spend(KEY, 0.1)).toEqual({ allowed: true, remainingRu: 0.9, resetSeconds: 10 });
});

test('what is refused is not spent: less may still fit', async () => {
  const rates = limits();
  await rates.spend(KEY, 0.9);
  for (let time = 0; time < 5; time += 1) {
    expect(await rates.spend(KEY, 0.5)).toMatchObject({ allowed: false, remainingRu: 0.1 });
    vi.advanceTimersByTime(400);
  }
  expect(await rates.spend(KEY, 0.1)).toMatchObject({ allowed: true, remainingRu: 0 });
});

test('tenths of a unit add up without rounding', async () => {
  const rates = limits();
  const key = { ...KEY, rateRu: 500 };
  for (let request = 1; request <= 4999; request += 1) await rates.spend(key, 0.1);
  expect(await rates.spend(key, 0.1)).toMatchObject({ allowed: true, remainingRu: 0 });
  expect(await rates.spend(key, 0.1)).toMatchObject({ allowed: false });
});

test('keys have windows of their own, and a changed rate holds for the window that runs', async () => {
  const rates = limits();
  await rates.spend(KEY, 1);
  expect(await rates.spend({ ...KEY, id: 8n }, 1)).toMatchObject({ allowed: true });
  expect(await rates.spend({ ...KEY, rateRu: 2.5 }, 1)).toMatchObject({ allowed: true, remainingRu: 0.5 });
  expect(await rates.spend({ ...KEY, rateRu: 0.5 }, 0.1)).toMatchObject({ allowed: false, remainingRu: 0 });
});

test('who keeps asking in vain is refused without asking the store for a second', async () => {
  const counter = createMemoryCounter();
  const rates = new RateLimits(counter);
  await rates.spend(KEY, 1);
  await rates.spend(KEY, 0.1);
  const consume = vi.spyOn(counter, 'consume');
  for (let request = 0; request < 100; request += 1) {
    expect(await rates.spend(KEY, 0.1)).toMatchObject({ allowed: false });
  }
  expect(consume).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1001);
  await rates.spend(KEY, 0.1);
  expect(consume).toHaveBeenCalledOnce();
});

test('a window of a month would run into the limit of timers: it is one of a day', async () => {
  const rates = limits();
  expect(await rates.spend({ ...KEY, windowSeconds: 2_592_000 }, 1)).toMatchObject({ resetSeconds: 86_400 });
  vi.advanceTimersByTime(1000);
  expect(await rates.spend({ ...KEY, windowSeconds: 2_592_000 }, 1)).toMatchObject({ allowed: false });
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SharedRead } from './shared-read.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const readerOf = () => {
  let reads = 0;
  const shared = new SharedRead<number>({ lifeMs: 1000, burst: 3 });
  const get = () => shared.get(async () => (reads += 1));
  return { shared, get, count: () => reads };
};

it('reads once for concurrent requests', async () => {
  const { get, count } = readerOf();
  expect(await Promise.all(Array.from({ length: 1000 }, get))).toEqual(Array.from({ length: 1000 }, () => 1));
  expect(count()).toBe(1);
});

it('reads for a burst of requests, then once per second', async () => {
  const { get, count } = readerOf();
  for (let request = 1; request <= 4; request += 1) expect(await get()).toBe(request);
  expect(await get()).toBe(4);
  for (let second = 0; second < 10; second += 1) {
    for (let request = 0; request < 100; request += 1) {
      vi.advanceTimersByTime(10);
      await get();
    }
  }
  expect(count()).toBe(14);
  vi.advanceTimersByTime(10_000);
  expect([await get(), await get()]).toEqual([15, 16]);
});

it('keeps no failure, and no forgotten result', async () => {
  const shared = new SharedRead<number>({ lifeMs: 1000, burst: 0 });
  await expect(shared.get(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await shared.get(async () => 1)).toBe(1);
  expect(await shared.get(async () => 2)).toBe(1);
  shared.forget();
  expect(await shared.get(async () => 3)).toBe(3);
});

it('reads again within a second after many failures', async () => {
  const { shared, get } = readerOf();
  for (let failure = 0; failure < 100; failure += 1) {
    await expect(shared.get(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  }
  expect(await get()).toBe(1);
  expect(await get()).toBe(1);
  vi.advanceTimersByTime(1001);
  expect(await get()).toBe(2);
});

it('forgets a result some time after it was read or requested last, however long the read took', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let reads = 0;
  const shared = new SharedRead<number>({ lifeMs: 60_000, burst: 0, keepMs: 2000 });
  const slow = shared.get(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return (reads += 1);
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect(await slow).toBe(1);
  const getAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return shared.get(async () => (reads += 1));
  };
  expect(await getAfter(2000)).toBe(2);
  expect([await getAfter(1900), await getAfter(1900)]).toEqual([2, 2]);
  expect(await getAfter(2000)).toBe(3);
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Bucket, type Charge, Limits } from './limits.ts';
import { UsageMeter } from './usage-meter.ts';
import { MemoryWindows, type WindowState } from './windows.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 30, 23, 0, 0) });
});
afterEach(() => {
  vi.useRealTimers();
});

const bucketOf = (period: 'day' | 'month', usedRu: number, since: string): Bucket => ({
  name: 'key:7',
  apiKeyId: 7n,
  rateRu: 500,
  windowSeconds: 1,
  concurrency: 128,
  quota: { ru: 10, period, used: { ru: usedRu, since, asOf: 0 } },
});
const newUsage = () =>
  new UsageMeter(
    async () => undefined,
    () => undefined,
  );
const limitsWith = (unwrittenRu: number): Limits => {
  const usage = newUsage();
  usage.add(7n, unwrittenRu);
  return new Limits(new MemoryWindows(), usage);
};

const REFUSED_FOR_AN_HOUR = { refusal: 'quota', resetSeconds: 3600 };

it('adds unwritten usage to that in the database, exactly', async () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  expect(await limitsWith(0.2).admit(bucket, 0.1)).toMatchObject({ charge: { ru: 0.1, day: '2026-01-30' } });
  expect(await limitsWith(0.3).admit(bucket, 0.1)).toMatchObject(REFUSED_FOR_AN_HOUR);
  expect(await limitsWith(0).admit(bucket, 0.5)).toMatchObject(REFUSED_FOR_AN_HOUR);
});

it('counts a request for the quota while its window is being charged, and no longer if that refuses it', async () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  const usage = newUsage();
  const { promise: state, resolve: settle } = Promise.withResolvers<WindowState>();
  const limits = new Limits({ charge: () => state, refund: () => undefined }, usage);
  const pending = Array.from({ length: 3 }, () => limits.admit(bucket, 0.1));
  expect(await limits.admit(bucket, 0.1)).toMatchObject(REFUSED_FOR_AN_HOUR);
  settle({ charged: false, remaining: 0, window: 1, endsInMs: 1 });
  for (const verdict of pending) expect((await verdict).refusal).toBe('rate_limit');
  expect(usage.missingRu(7n, '2026-01-30', 0)).toBe(0);
});

it('ends a month with its last day', async () => {
  const verdict = await limitsWith(0).admit(bucketOf('month', 10, '2026-01-01'), 0.1);
  expect(verdict.resetSeconds).toBe(25 * 3600);
});

it('ignores usage of the previous day after midnight', async () => {
  vi.setSystemTime(Date.UTC(2026, 0, 31));
  expect((await limitsWith(0).admit(bucketOf('day', 10, '2026-01-30'), 0.1)).refusal).toBeUndefined();
  const verdict = await limitsWith(0).admit(bucketOf('month', 10, '2026-01-01'), 0.1);
  expect(verdict).toMatchObject({ refusal: 'quota', resetSeconds: 24 * 3600 });
});

it('does not limit a key without a quota', async () => {
  const bucket = { ...bucketOf('day', 10, '2026-01-30'), quota: undefined };
  expect((await limitsWith(1e6).admit(bucket, 0.1)).refusal).toBeUndefined();
});

it('does not count a refused request as in flight', async () => {
  const bucket = { ...bucketOf('day', 0, '2026-01-30'), quota: undefined, rateRu: 0.1, concurrency: 2 };
  const limits = limitsWith(0);
  expect((await limits.admit(bucket, 0.1)).refusal).toBeUndefined();
  for (let request = 0; request < 3; request += 1) {
    expect((await limits.admit(bucket, 0.1)).refusal).toBe('rate_limit');
  }
  vi.advanceTimersByTime(1_000);
  expect((await limits.admit(bucket, 0.1)).refusal).toBeUndefined();
});

it('refunds the first charge if the rest of the cost is refused, unless there is none', async () => {
  const limits = limitsWith(0);
  const bucket: Bucket = { ...bucketOf('day', 0, '2026-01-30'), rateRu: 5 };
  const { charge } = (await limits.admit(bucket, 4)) as { charge: Charge };
  expect(await limits.chargeMore(bucket, charge, 2)).toMatchObject({ refusal: 'rate_limit' });
  // The whole rate is left again, and the quota of 10.
  expect(await limits.admit(bucket, 5)).toMatchObject({ charge: { ru: 5 } });
  vi.advanceTimersByTime(1001);
  expect(await limits.admit(bucket, 4)).toMatchObject({ charge: { ru: 4 } });
  expect(await limits.chargeMore(bucket, null, 2)).toMatchObject({ refusal: 'quota' });
  expect(await limits.admit(bucket, 1)).toMatchObject({ charge: { ru: 1 } });
  expect(await limits.admit(bucket, 0.1)).toMatchObject({ refusal: 'quota' });
});

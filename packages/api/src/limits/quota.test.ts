import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Bucket } from './limits.ts';
import { Quotas } from './quota.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 30, 23, 0, 0) });
});
afterEach(() => {
  vi.useRealTimers();
});

const bucketWith = (quota: Bucket['quota']): Bucket => ({
  name: 'key:7',
  apiKeyId: 7n,
  rateRu: 500,
  windowSeconds: 1,
  concurrency: 128,
  quota,
});
const bucketOf = (period: 'day' | 'month', usedRu: number, since: string) =>
  bucketWith({ ru: 10, period, used: { ru: usedRu, since, asOf: 0 } });
const quotas = (missing: number) => new Quotas({ missingRu: () => missing });

it('adds unwritten usage to that in the database, exactly', () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  expect(quotas(0.2).reserve(bucket, 0.1)).toBeUndefined();
  expect(quotas(0.3).reserve(bucket, 0.1)).toBe(3600);
  expect(quotas(0).reserve(bucket, 0.5)).toBe(3600);
});

it('counts a reservation until it is released', () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  const book = quotas(0);
  for (let request = 0; request < 3; request += 1) expect(book.reserve(bucket, 0.1)).toBeUndefined();
  expect(book.reserve(bucket, 0.1)).toBe(3600);
  book.release(bucket, 0.1);
  expect(book.reserve(bucket, 0.1)).toBeUndefined();
  expect(book.reserve(bucket, 0.1)).toBe(3600);
});

it('ends a month with its last day', () => {
  expect(quotas(0).reserve(bucketOf('month', 10, '2026-01-01'), 0.1)).toBe(25 * 3600);
});

it('ignores usage of the previous day after midnight', () => {
  const bucket = bucketOf('day', 10, '2026-01-30');
  vi.setSystemTime(Date.UTC(2026, 0, 31));
  expect(quotas(0).reserve(bucket, 0.1)).toBeUndefined();
  expect(quotas(0).reserve(bucketOf('month', 10, '2026-01-01'), 0.1)).toBe(24 * 3600);
});

it('does not limit a key without a quota', () => {
  expect(quotas(1e9).reserve(bucketWith(undefined), 0.1)).toBeUndefined();
});

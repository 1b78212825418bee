import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

test('what the database has and what it misses count together, to the last tenth', () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  expect(quotas(0.2).reserve(bucket, 0.1)).toBeUndefined();
  expect(quotas(0.3).reserve(bucket, 0.1)).toBe(3600);
  expect(quotas(0).reserve(bucket, 0.5)).toBe(3600);
});

test('a reservation counts until it is taken back', () => {
  const bucket = bucketOf('day', 9.7, '2026-01-30');
  const book = quotas(0);
  for (let request = 0; request < 3; request += 1) expect(book.reserve(bucket, 0.1)).toBeUndefined();
  expect(book.reserve(bucket, 0.1)).toBe(3600);
  book.release(bucket, 0.1);
  expect(book.reserve(bucket, 0.1)).toBeUndefined();
  expect(book.reserve(bucket, 0.1)).toBe(3600);
});

test('a month ends with its last day', () => {
  expect(quotas(0).reserve(bucketOf('month', 10, '2026-01-01'), 0.1)).toBe(25 * 3600);
});

test('what was read before midnight does not count after it', () => {
  const bucket = bucketOf('day', 10, '2026-01-30');
  vi.setSystemTime(Date.UTC(2026, 0, 31));
  expect(quotas(0).reserve(bucket, 0.1)).toBeUndefined();
  expect(quotas(0).reserve(bucketOf('month', 10, '2026-01-01'), 0.1)).toBe(24 * 3600);
});

test('a key without a quota may spend what its rate allows', () => {
  expect(quotas(1e9).reserve(bucketWith(undefined), 0.1)).toBeUndefined();
});

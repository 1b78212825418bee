import { hashKey, type KeyInForce } from '@kasgres/database';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KeyCache, type KeyCacheOptions } from './key-cache.ts';

const keyNumber = (number: number) => `kdp_${number.toString(16).padStart(64, '0')}`;
const KEY = keyNumber(1);

const apiKey: KeyInForce = {
  id: 7n,
  name: 'wallet',
  keyHash: hashKey(KEY),
  rateRu: 500,
  windowSeconds: 1,
  quota: undefined,
  concurrency: 128,
  readOnly: false,
  used: undefined,
};

type Read = KeyCacheOptions['readKnown'];

let cache: KeyCache;
let readKnown: ReturnType<typeof vi.fn<Read>>;
let readUnknown: ReturnType<typeof vi.fn<Read>>;
let readHashes: ReturnType<typeof vi.fn<KeyCacheOptions['readHashes']>>;
let isUsageUncertain: boolean;
let good: KeyInForce[];

beforeEach(() => {
  vi.useFakeTimers();
  good = [apiKey];
  isUsageUncertain = false;
  const read: Read = async (hashes) =>
    good.filter(({ keyHash }) => hashes.some((hash) => Buffer.from(hash).equals(keyHash)));
  readKnown = vi.fn<Read>(read);
  readUnknown = vi.fn<Read>(read);
  readHashes = vi.fn<KeyCacheOptions['readHashes']>(
    async (ids) => new Map(ids.includes(apiKey.id) ? [[apiKey.id, apiKey.keyHash]] : []),
  );
  cache = new KeyCache({
    readKnown,
    readUnknown,
    readHashes,
    isUsageUncertain: () => isUsageUncertain,
    onError: () => undefined,
  });
});
afterEach(() => {
  cache.close();
  vi.useRealTimers();
});

it('looks up a key once, and refreshes it every second while it is used', async () => {
  expect(await Promise.all([cache.find(KEY), cache.find(KEY)])).toMatchObject([{ id: 7n }, { id: 7n }]);
  expect(readUnknown.mock.calls).toEqual([[[hashKey(KEY)]]]);
  for (let second = 0; second < 10; second += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    // It is there at once: no request waits for the database.
    expect(cache.find(KEY)).toMatchObject({ id: 7n });
  }
  expect(readUnknown).toHaveBeenCalledTimes(1);
  expect(readKnown).toHaveBeenCalledTimes(10);
});

it('refuses a revoked key, and applies changed limits, within two seconds', async () => {
  await cache.find(KEY);
  good = [{ ...apiKey, rateRu: 1 }];
  await vi.advanceTimersByTimeAsync(1001);
  expect(cache.find(KEY)).toMatchObject({ bucket: { rateRu: 1 } });
  good = [];
  await vi.advanceTimersByTimeAsync(1001);
  expect(await cache.find(KEY)).toBeUndefined();
});

it('keeps keys valid for three seconds during a database outage, then fails', async () => {
  await cache.find(KEY);
  readKnown.mockRejectedValue(new Error('the database is away'));
  await vi.advanceTimersByTimeAsync(2500);
  expect(cache.find(KEY)).toMatchObject({ id: 7n });
  await vi.advanceTimersByTimeAsync(1000);
  await expect(cache.find(KEY)).rejects.toThrow('away');
});

it.each(['', 'kdp_', 'wrong', `kdp_${'0'.repeat(63)}`, `kdp_${'G'.repeat(64)}`, `${KEY} `])(
  'refuses %j without a query',
  (text) => {
    expect(cache.find(text)).toBeUndefined();
    expect(readUnknown).not.toHaveBeenCalled();
  },
);

it('looks up unknown keys together, without delaying a key in use', async () => {
  await cache.find(KEY);
  const { promise: found, resolve: finish } = Promise.withResolvers<KeyInForce[]>();
  readUnknown.mockReturnValueOnce(found);
  const wrong = Array.from({ length: 901 }, async (_, number) => cache.find(keyNumber(number + 2)));
  await vi.advanceTimersByTimeAsync(5000);
  expect(await cache.find(KEY)).toMatchObject({ id: 7n });
  finish([]);
  expect(await Promise.all(wrong)).toEqual(wrong.map(() => undefined));
  expect(readUnknown.mock.calls.map(([hashes]) => hashes.length)).toEqual([1, 500, 401]);
});

it('remembers at most ten thousand invalid keys for two seconds', async () => {
  await cache.find(keyNumber(2));
  expect(cache.find(keyNumber(2))).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2001);
  good = [{ ...apiKey, keyHash: hashKey(keyNumber(2)) }];
  expect(await cache.find(keyNumber(2))).toMatchObject({ id: 7n });
  for (let wrong = 3; wrong < 10_004; wrong += 1) await cache.find(keyNumber(wrong));
  readUnknown.mockClear();
  await cache.find(keyNumber(3));
  expect(readUnknown).toHaveBeenCalledOnce();
  await cache.find(keyNumber(10_003));
  expect(readUnknown).toHaveBeenCalledOnce();
});

it('refuses look-ups if too many wait', async () => {
  readUnknown.mockReturnValue(new Promise(() => undefined));
  const found = Array.from({ length: 10_001 }, (_, number) => cache.find(keyNumber(number + 2)));
  await expect(found.at(-1)).rejects.toMatchObject({ statusCode: 503 });
});

const withUse = (ru: number): KeyInForce => ({
  ...apiKey,
  quota: { ru: 10, period: 'day' },
  used: { ru, since: '2026-01-31' },
});

it('keeps the previous usage if a batch was being written while the usage was read', async () => {
  good = [withUse(1)];
  await cache.find(KEY);
  good = [withUse(4)];
  isUsageUncertain = true;
  await vi.advanceTimersByTimeAsync(1001);
  expect(cache.find(KEY)).toMatchObject({ bucket: { quota: { used: { ru: 1 } } } });
  isUsageUncertain = false;
  await vi.advanceTimersByTimeAsync(1001);
  expect(cache.find(KEY)).toMatchObject({ bucket: { quota: { used: { ru: 4 } } } });
});

it('looks up ids of tokens together, and remembers those that do not exist for two seconds', async () => {
  const ids = Array.from({ length: 901 }, (_, index) => BigInt(index + 100));
  expect(await Promise.all(ids.map(async (id) => cache.findHash(id)))).toEqual(ids.map(() => undefined));
  expect(readHashes.mock.calls.map(([listed]) => listed.length)).toEqual([500, 401]);
  expect(cache.findHash(100n)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2001);
  expect(await cache.findHash(100n)).toBeUndefined();
  expect(readHashes).toHaveBeenCalledTimes(3);
  // The id of a key is read once.
  expect(await cache.findHash(apiKey.id)).toBe(apiKey.keyHash);
  expect(cache.findHash(apiKey.id)).toBe(apiKey.keyHash);
  expect(readHashes).toHaveBeenCalledTimes(4);
});

import { hashKey, type KeyInForce } from '@kasgres/database';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeyCache } from './key-cache.ts';

const apiKey: KeyInForce = {
  id: 7n,
  name: 'wallet',
  rateRu: 500,
  windowSeconds: 1,
  quota: undefined,
  used: undefined,
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('looks a key up by its hash, once in two seconds', async () => {
  const find = vi.fn(async () => apiKey);
  const cache = new KeyCache(find);
  expect(await Promise.all([cache.find('kdp_a'), cache.find('kdp_a')])).toEqual([apiKey, apiKey]);
  expect(find.mock.calls).toEqual([[hashKey('kdp_a')]]);
  vi.advanceTimersByTime(2001);
  await cache.find('kdp_a');
  expect(find).toHaveBeenCalledTimes(2);
});

test('a key revoked meanwhile is refused within two seconds', async () => {
  const find = vi.fn<() => Promise<KeyInForce | undefined>>(async () => apiKey);
  const cache = new KeyCache(find);
  await cache.find('kdp_a');
  find.mockResolvedValue(undefined);
  vi.advanceTimersByTime(2001);
  expect(await cache.find('kdp_a')).toBeUndefined();
});

test('a cleared cache looks up anew, and forgets answers that were under way', async () => {
  const { promise, resolve } = Promise.withResolvers<KeyInForce | undefined>();
  const find = vi.fn<() => Promise<KeyInForce | undefined>>(async () => apiKey);
  find.mockReturnValueOnce(promise);
  const cache = new KeyCache(find);
  const early = cache.find('kdp_a');
  cache.clear();
  expect(await cache.find('kdp_a')).toBe(apiKey);
  resolve(undefined);
  expect(await early).toBeUndefined();
  expect(await cache.find('kdp_a')).toBe(apiKey);
  expect(find).toHaveBeenCalledTimes(2);
});

test('a look-up that fails is not remembered', async () => {
  const find = vi.fn(async () => apiKey);
  find.mockRejectedValueOnce(new Error('the database is away'));
  const cache = new KeyCache(find);
  await expect(cache.find('kdp_a')).rejects.toThrow('away');
  expect(await cache.find('kdp_a')).toBe(apiKey);
});

test('a flood of wrong keys does not fill the memory', async () => {
  const find = vi.fn(async () => undefined);
  const cache = new KeyCache(find);
  for (let wrong = 0; wrong < 20_001; wrong += 1) await cache.find(`wrong ${wrong}`);
  await cache.find('wrong 0');
  expect(find).toHaveBeenCalledTimes(20_002);
});

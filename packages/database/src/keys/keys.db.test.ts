import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey, findKey, hashKey, listKeys, revokeKey } from './keys.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { addUsage, listUsage } from './usage.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('a key is found by its hash, with its limits, and is not stored itself', async () => {
  const db = database.kysely;
  const { id, key } = await createKey(db, {
    name: 'explorer',
    rateRu: 12.5,
    windowSeconds: 10,
    quota: { ru: 1000, period: 'month' },
  });
  expect(key).toMatch(/^kdp_[0-9a-f]{64}$/);
  const limits = { rateRu: 12.5, windowSeconds: 10, quota: { ru: 1000, period: 'month' } };
  expect(await findKey(db, hashKey(key))).toMatchObject({ id, name: 'explorer', ...limits });
  expect(await findKey(db, hashKey(`${key}0`))).toBeUndefined();
  const { rows } = await database.pool.query<{ text: string }>('select api_keys::text as text from api_keys');
  expect(rows.map(({ text }) => text).join()).not.toContain(key.slice(4));
});

test('a key without limits gets the default ones', async () => {
  const { key } = await createKey(database.kysely, { name: 'plain' });
  const found = await findKey(database.kysely, hashKey(key));
  expect(found).toMatchObject({ rateRu: 100, windowSeconds: 1, quota: undefined, concurrency: 128, readOnly: false });
});

test('a revoked key is not found, and is revoked once', async () => {
  const db = database.kysely;
  const { id, key } = await createKey(db, { name: 'gone' });
  expect(await revokeKey(db, id)).toBe(true);
  expect(await revokeKey(db, id)).toBe(false);
  expect(await findKey(db, hashKey(key))).toBeUndefined();
  const record = (await listKeys(db)).find((listed) => listed.id === id);
  expect(record?.revokedAt).toBeInstanceOf(Date);
});

test('an expired key is not found, one that has not expired yet is', async () => {
  const db = database.kysely;
  const expired = await createKey(db, { name: 'old', expiresAt: new Date(Date.now() - 1000) });
  const valid = await createKey(db, { name: 'new', expiresAt: new Date(Date.now() + 60_000) });
  expect(await findKey(db, hashKey(expired.key))).toBeUndefined();
  expect(await findKey(db, hashKey(valid.key))).toMatchObject({ id: valid.id });
});

test('a key with a quota has the usage of its current period only', async () => {
  const db = database.kysely;
  const now = new Date('2026-03-15T10:00:00Z');
  const used = async (period: 'day' | 'month' | undefined) => {
    const { id, key } = await createKey(db, { name: 'quota', quota: period && { ru: 100, period } });
    const days = ['2026-02-28', '2026-03-01', '2026-03-14', '2026-03-15'];
    await addUsage(
      db,
      days.map((day, at) => ({ apiKeyId: id, day, requests: 1, ru: 10 ** at / 10 })),
    );
    return (await findKey(db, hashKey(key), now))?.used;
  };
  expect(await used('day')).toEqual({ ru: 100, since: '2026-03-15' });
  expect(await used('month')).toEqual({ ru: 111, since: '2026-03-01' });
  expect(await used(undefined)).toBeUndefined();
  const { key } = await createKey(db, { name: 'unused', quota: { ru: 1, period: 'day' } });
  expect((await findKey(db, hashKey(key), now))?.used).toEqual({ ru: 0, since: '2026-03-15' });
});

test('tenths of a unit stay exact in sums of millions', async () => {
  const db = database.kysely;
  const { id } = await createKey(db, { name: 'busy' });
  await addUsage(db, [{ apiKeyId: id, day: '2026-01-31', requests: 1, ru: 123_456_789_012.3 }]);
  for (let batch = 0; batch < 3; batch += 1) {
    await addUsage(db, [{ apiKeyId: id, day: '2026-01-31', requests: 1, ru: 0.1 }]);
  }
  expect(await listUsage(db, id)).toEqual([{ apiKeyId: id, day: '2026-01-31', requests: 4, ru: 123_456_789_012.6 }]);
});

test('usage adds up by key and day, also from several processes at once', async () => {
  const db = database.kysely;
  const [one, two] = [(await createKey(db, { name: 'one' })).id, (await createKey(db, { name: 'two' })).id];
  const batch = [
    { apiKeyId: two, day: '2026-01-31', requests: 1, ru: 0.1 },
    { apiKeyId: one, day: '2026-01-31', requests: 2, ru: 0.6 },
    { apiKeyId: one, day: '2026-02-01', requests: 3, ru: 3 },
  ];
  await addUsage(db, []);
  await Promise.all(Array.from({ length: 10 }, async () => await addUsage(db, batch)));
  expect(await listUsage(db, one)).toEqual([
    { apiKeyId: one, day: '2026-02-01', requests: 30, ru: 30 },
    { apiKeyId: one, day: '2026-01-31', requests: 20, ru: 6 },
  ]);
  expect(await listUsage(db, two)).toEqual([{ apiKeyId: two, day: '2026-01-31', requests: 10, ru: 1 }]);
});

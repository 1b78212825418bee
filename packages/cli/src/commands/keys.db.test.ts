import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { addUsage, findKey, hashKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bin/kasgres.js', import.meta.url));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

/** Returns the output of the command; rejects with its error message. */
async function keys(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, 'keys', ...args], { env });
  return stdout.trim();
}

test('it creates a key with its limits, prints only the key, and lists it without its secret', async () => {
  const key = await keys(
    'create',
    'wallet',
    '--rate',
    '12.5',
    '--window',
    '10',
    '--quota',
    '1000',
    '--period',
    'month',
  );
  expect(key).toMatch(/^kdp_[0-9a-f]{64}$/);
  const limits = { rateRu: 12.5, windowSeconds: 10, quota: { ru: 1000, period: 'month' } };
  expect(await findKey(database.kysely, hashKey(key))).toMatchObject({ name: 'wallet', ...limits });
  const list = await keys('list');
  expect(list).toMatch(/wallet +12\.5 RU \/ 10 s +1000 RU \/ month +in force/);
  expect(list).not.toContain(key.slice(4));
});

test('--read-only and --concurrency are stored and listed; without them a key may submit, with 128 requests in flight', async () => {
  const restricted = await keys('create', 'restricted', '--read-only', '--concurrency', '7');
  expect(await findKey(database.kysely, hashKey(restricted))).toMatchObject({ readOnly: true, concurrency: 7 });
  const plain = await keys('create', 'unrestricted');
  expect(await findKey(database.kysely, hashKey(plain))).toMatchObject({ readOnly: false, concurrency: 128 });
  const list = await keys('list');
  expect(list).toMatch(/ restricted .* in force +7 +read-only /);
  expect(list).toMatch(/ unrestricted .* in force +128 +all /);
});

test('a quota is per day by default', async () => {
  const key = await keys('create', 'daily', '--quota', '7');
  expect(await findKey(database.kysely, hashKey(key))).toMatchObject({ quota: { ru: 7, period: 'day' } });
});

test.each([
  [['create', ' '], 'name'],
  [['create', 'wallet\u202Etellaw'], 'without control, bidirectional and invisible characters'],
  [['create', 'wal\u200Blet'], 'without control, bidirectional and invisible characters'],
  [['create', 'x', '--window', '0.5'], 'whole seconds'],
  [['create', 'x', '--window', '86401'], 'whole seconds'],
  [['create', 'x', '--rate', '0.09'], 'a number from 0.1, which a look-up costs'],
  [['create', 'x', '--rate', '1e13'], 'to 1,000,000,000,000'],
  [['create', 'x', '--quota', '0.05'], 'a number from 0.1'],
  [['create', 'x', '--concurrency', '0'], 'whole number above 0'],
  [['create', 'x', '--concurrency', '1.5'], 'whole number above 0'],
  [['create', 'x', '--period', 'month'], '--quota'],
  [['create', 'x', '--expires', '2020-01-01'], 'in the future'],
  [['create', 'x', '--expires', '2090-02-30'], 'such as 2030-01-31'],
  [['create', 'x', '--expires', '12/11/2090'], 'such as 2030-01-31'],
  [['revoke', 'nobody'], 'There is no key nobody'],
])('it rejects %j with an explanation', async (args, words) => {
  await expect(keys(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(words) as string });
});

test('it revokes one of several keys of a name by its id', async () => {
  const [old, renewed] = [await keys('create', 'twice'), await keys('create', 'twice')];
  await expect(keys('revoke', 'twice')).rejects.toMatchObject({
    stderr: expect.stringContaining('by its id') as string,
  });
  const { id } = (await findKey(database.kysely, hashKey(old))) ?? { id: 0n };
  expect(await keys('revoke', String(id))).toBe(`Revoked key ${id} (twice).`);
  expect(await findKey(database.kysely, hashKey(old))).toBeUndefined();
  expect(await findKey(database.kysely, hashKey(renewed))).toBeDefined();
});

test('it lists usage by day, newest first, with tenths', async () => {
  const { id } = (await findKey(database.kysely, hashKey(await keys('create', 'busy')))) ?? { id: 0n };
  await addUsage(database.kysely, [
    { apiKeyId: id, day: '2026-01-30', requests: 10_000_000, ru: 1_000_000.1 },
    { apiKeyId: id, day: '2026-01-31', requests: 3, ru: 0.3 },
  ]);
  expect(await keys('usage', 'busy')).toMatch(/busy +2026-01-31 +3 +0\.3\n.*busy +2026-01-30 +10000000 +1000000\.1$/);
});

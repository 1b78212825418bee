import { afterAll, beforeAll, expect, test } from 'vitest';
import { upsertTags } from './tag-sources.ts';
import { findClusterTag, listTagsOfScripts } from './tags.ts';
import { insertCluster } from '../testing/insert-cluster.ts';
import { addressOf } from '../testing/known-addresses.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('a script without a tag has the name of its cluster as its tag', async () => {
  await database.pool.query(`
    insert into scripts values (1, 0, '\\x01', 'nonstandard', null), (2, 0, '\\x02', 'nonstandard', null),
      (3, 0, '\\x04', 'nonstandard', null), (4, 0, '\\x05', 'nonstandard', null)`);
  await insertCluster(database.pool, [3n, 1n], { name: 'A pool', link: '', labels: ['pool'] });
  await insertCluster(database.pool, [2n, 4n]);
  const find = (version: number, byte: number): ReturnType<typeof findClusterTag> =>
    findClusterTag(database.kysely, { version, script: Uint8Array.of(byte) });
  expect(await find(0, 1)).toEqual({ name: 'A pool', link: '', labels: ['pool'] });
  expect(await find(0, 2)).toBeUndefined();
  expect(await find(0, 3)).toBeUndefined();
  expect(await find(1, 1)).toBeUndefined();
});

test('each of many scripts has its own tag, else that of its cluster; scripts without tag or address are omitted', async () => {
  await database.pool.query(
    `insert into scripts select 600 + n, 0, decode('06' || n, 'hex'), 'pubkey', a from unnest($1::int[], $2::text[]) given (n, a)`,
    [
      [10, 11, 12, 13, 14],
      [addressOf(610), addressOf(611), addressOf(612), addressOf(613), null],
    ],
  );
  const own = { address: addressOf(610), name: 'Own', link: '', labels: ['exchange', 'pool'] };
  await upsertTags(database.pool, [own]);
  await insertCluster(database.pool, [610n, 611n, 614n], {
    name: 'Miner',
    link: 'https://example.org',
    labels: ['miner'],
  });
  await insertCluster(database.pool, [613n, 615n]);
  const ofCluster = { address: addressOf(611), name: 'Miner', link: 'https://example.org', labels: ['miner'] };
  expect(await listTagsOfScripts(database.kysely, [614n, 613n, 612n, 611n, 610n, 699n])).toEqual(
    new Map([
      [610n, own],
      [611n, ofCluster],
    ]),
  );
  expect(await listTagsOfScripts(database.kysely, [])).toEqual(new Map());
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { findClusterTag, findOwnTag, upsertTags } from './tags.ts';
import { createTestDatabase, type TestDatabase } from './testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('tags are written, written over, and the last one for an address holds', async () => {
  const db = database.kysely;
  const tag = { address: 'kaspasim:one', name: 'first', link: 'https://example.org', labels: ['pool', 'exchange'] };
  await upsertTags(db, [tag, { ...tag, name: 'second' }]);
  expect(await findOwnTag(db, 'kaspasim:one')).toEqual({ ...tag, name: 'second' });
  await upsertTags(db, [{ ...tag, name: 'third', labels: [] }]);
  expect(await findOwnTag(db, 'kaspasim:one')).toEqual({ ...tag, name: 'third', labels: [] });
  expect(await findOwnTag(db, 'kaspasim:two')).toBeUndefined();
});

test('more tags than one statement can write', async () => {
  const tags = Array.from({ length: 12_000 }, (_, index) => {
    return { address: `kaspasim:many${index}`, name: `name ${index}`, link: '', labels: [] };
  });
  await upsertTags(database.kysely, tags);
  expect(await findOwnTag(database.kysely, 'kaspasim:many11999')).toEqual(tags[11_999]);
});

test('a script has the tag of its cluster, where the cluster has a name', async () => {
  await database.pool.query(`
    insert into scripts values (1, 0, '\\x01', 'nonstandard', null), (2, 0, '\\x02', 'nonstandard', null);
    insert into clusters values (1, 'A pool', '', '{pool}'), (2, null, '', '{}');
    insert into cluster_members values (1, 1), (2, 2)`);
  const find = (version: number, byte: number): ReturnType<typeof findClusterTag> =>
    findClusterTag(database.kysely, { version, script: Uint8Array.of(byte) });
  expect(await find(0, 1)).toEqual({ name: 'A pool', link: '', labels: ['pool'] });
  expect(await find(0, 2)).toBeUndefined();
  expect(await find(0, 3)).toBeUndefined();
  expect(await find(1, 1)).toBeUndefined();
});

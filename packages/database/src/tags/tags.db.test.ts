import { afterAll, beforeAll, expect, test } from 'vitest';
import { findClusterTag } from './tags.ts';
import { insertCluster } from '../testing/insert-cluster.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('an address without a tag has the name of its cluster as its tag', async () => {
  await database.pool.query(`
    insert into scripts values (1, 0, '\\x01', 'pubkey', 'a'), (2, 0, '\\x02', 'pubkey', 'b'),
      (3, 0, '\\x04', 'pubkey', 'd'), (4, 0, '\\x05', 'pubkey', 'e')`);
  await insertCluster(database.pool, [3n, 1n], { name: 'A pool', link: '', labels: ['pool'] });
  await insertCluster(database.pool, [2n, 4n]);
  const find = (address: string): ReturnType<typeof findClusterTag> => findClusterTag(database.kysely, address);
  expect(await find('a')).toEqual({ name: 'A pool', link: '', labels: ['pool'] });
  expect(await find('b')).toBeUndefined();
  expect(await find('c')).toBeUndefined();
  expect(await find('d')).toEqual({ name: 'A pool', link: '', labels: ['pool'] });
});

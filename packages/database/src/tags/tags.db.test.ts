import { afterAll, beforeAll, expect, test } from 'vitest';
import { findClusterTag } from './tags.ts';
import { insertCluster } from '../testing/insert-cluster.ts';
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

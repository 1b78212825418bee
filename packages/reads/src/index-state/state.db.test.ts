import { connect, isQueryCanceled } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IndexReader } from './state.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => await database.drop());

test('a read that is cancelled while it begins leaves its connection usable', async () => {
  const connection = connect({
    url: database.url,
    max: 1,
    applicationName: 'kasgres test',
    statementTimeoutMs: 300,
  });
  const index = new IndexReader(connection);
  const locking = await database.pool.connect();
  await locking.query('begin; lock table blocks in access exclusive mode');
  await expect(index.readIfAny(async () => 'read')).rejects.toSatisfy(isQueryCanceled);
  await locking.query('rollback');
  locking.release();
  expect(await index.readIfAny(async () => 'read')).toBe('read');
  expect((await connection.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await connection.close();
});

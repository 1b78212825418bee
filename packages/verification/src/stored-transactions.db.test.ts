import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { Queryable } from '@kasgres/state';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVERYTHING } from './since.ts';
import { storedTransactions } from './stored-transactions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  // The third one is larger than a page, and the last three fit into one.
  await database.pool.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     select id, decode(lpad(to_hex(id), 64, '0'), 'hex'), '', 0, 0, 0, 0, '', 0, 0,
       mebibytes * 1048576
     from unnest(array[20, 20, 50, 10, 10, 10]) with ordinality sizes (mebibytes, id)`,
  );
});
afterAll(async () => await database.drop());

test('pages of transactions end before they are too large, and none is left out', async () => {
  const read: number[] = [];
  const counting = {
    query: async (text: string, values: unknown[]) => {
      const result = await database.pool.query(text, values);
      if (text.includes('t.payload')) read.push(result.rows.length);
      return result;
    },
  } as unknown as Queryable;
  let found = 0;
  for await (const { variant } of storedTransactions(counting, EVERYTHING)) found += variant + 1;
  expect(found).toBe(6);
  expect(read).toEqual([1, 1, 1, 3]);
});

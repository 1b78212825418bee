import { createTestDatabase } from '@kasgres/database/testing';
import { expect, onTestFinished, test } from 'vitest';
import { findRangeEnd } from './read.ts';

const TRANSACTIONS = 100;
const LARGE = 2 ** 20;

test.each([
  ['first', 0, 15],
  ['second', 1, 15],
  ['no', null, TRANSACTIONS - 1],
])('a range is as short as the %s variants, which are large, demand if they were accepted', async (_, variant, end) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { pool } = database;
  const [first, second] = variant === 0 ? [LARGE, 1] : [1, LARGE];
  await pool.query(
    `insert into transactions (id, accepted_variant, subnetwork_id, version, json_bytes,
      storage_mass, compute_mass, lock_time, gas, transaction_id, hash, payload)
     select id, $1, 0, 0, $2, 0, 0, 0, 0, '', '', ''
       from generate_series(0, ${TRANSACTIONS - 1}) id`,
    [variant, first],
  );
  await pool.query(
    `insert into transaction_variants (transaction_id, variant, json_bytes, hash, storage_mass, compute_mass)
     select id, 1, $1, '', 0, 0 from generate_series(0, ${TRANSACTIONS - 1}) id`,
    [second],
  );
  expect(await findRangeEnd(pool, -1)).toBe(end);
});

/**
 * A rebuild of the intervals uses the database function work_of_bits, which must agree with
 * workFromBits.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { workFromBits } from '@kasgres/kaspa';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the SQL function computes the work of any bits as consensus does', async () => {
  const sampled = fc.sample(fc.integer({ min: 0, max: 2 ** 32 - 1 }), 2_000);
  // Each size of a target, with the least and the largest mantissa, and one that counts as
  // negative.
  const edges = [...Array(256).keys()].flatMap((size) =>
    [0, 1, 0x7fffff, 0x800000, 0xffffff].map((mantissa) => size * 2 ** 24 + mantissa),
  );
  const bits = [...sampled, ...edges, 0x207fffff, 0x1e7fffff, 0x1b00ffff];
  const { rows } = await database.pool.query<{ work: string }>(
    'select work_of_bits(bits)::text as work from unnest($1::bigint[]) with ordinality given (bits, place) order by place',
    [bits],
  );
  expect(rows.map(({ work }) => work)).toEqual(bits.map((each) => workFromBits(each).toString()));
});

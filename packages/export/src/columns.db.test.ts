import { inTransaction } from '@kasgres/database';
import { copyOut, type OnField } from '@kasgres/database/copy-out';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { columnTypeOf } from './columns.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});

afterAll(async () => {
  await database.drop();
});

/** The values of one column of this type and name, as they go into a file. */
async function valuesOf(values: string, typeName: string, { column = 'x', modifier = -1 } = {}): Promise<unknown[]> {
  const type = columnTypeOf(column, typeName, modifier);
  const read: unknown[] = [];
  const query = `select x${type.cast} from (values ${values}) v (x)`;
  const onField: OnField = (_, bytes) => read.push(bytes === undefined ? null : type.decode(bytes));
  const client = await database.pool.connect();
  try {
    await inTransaction(client, () => copyOut(client, query, onField, () => {}));
  } finally {
    client.release();
  }
  return read;
}

test('numbers are exact to the last digit, or rejected', async () => {
  expect(await valuesOf('(2::bigint ^ 62), (null)', 'float8')).toEqual([2 ** 62, null]);
  expect(await valuesOf('(9223372036854775807), (-9223372036854775808)', 'int8')).toEqual([
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]);
  const sompi = { column: 'x_sompi' };
  expect(
    await valuesOf(`(0::numeric), (18446744073709551615), (-1), (10000), (${'9'.repeat(38)})`, 'numeric', sompi),
  ).toEqual([0n, 2n ** 64n - 1n, -1n, 10_000n, 10n ** 38n - 1n]);
  await expect(valuesOf(`(1${'0'.repeat(38)}::numeric)`, 'numeric', sompi)).rejects.toThrow('more than 38 digits');
  await expect(valuesOf('(0.5)', 'numeric', sompi)).rejects.toThrow('more than 0 decimals');
  await expect(valuesOf(`('NaN'::numeric)`, 'numeric', sompi)).rejects.toThrow('NaN');
  const kas = { column: 'x_kas' };
  expect(
    await valuesOf('(0.00000001), (-0.00000001), (1.5), (28700000000.12345678), (100000), (0.10)', 'numeric', kas),
  ).toEqual([1n, -1n, 150_000_000n, 2_870_000_000_012_345_678n, 10_000_000_000_000n, 10_000_000n]);
  await expect(valuesOf('(0.000000001)', 'numeric', kas)).rejects.toThrow('more than 8 decimals');
  // 192 bits have 58 digits: as text.
  const [work] = await valuesOf('(6277101735386680763835789423207666416102355444464034512895::numeric)', 'numeric');
  expect(String(work)).toBe('6277101735386680763835789423207666416102355444464034512895');
});

test('it decodes times before 1970 and before 2000', async () => {
  expect(
    await valuesOf(
      `(timestamptz '2025-06-15 15:06:40.123Z'), ('1999-12-31 23:59:59.999Z'), ('1969-12-31 23:59:59.999999Z'), ('1970-01-01Z')`,
      'timestamptz',
    ),
  ).toEqual([1_750_000_000_123n, 946_684_799_999n, -1n, 0n]);
  expect(await valuesOf(`(date '1970-01-01'), ('2000-01-01'), ('1969-12-31')`, 'date')).toEqual([0, 10_957, -1]);
});

test('it exports empty lists, lists with nulls and of bytes, and unknown types as text', async () => {
  expect(await valuesOf(`('{}'::bigint[]), ('{1,null,-3}'), (null)`, '_int8')).toEqual([[], [1n, null, -3n], null]);
  expect(await valuesOf(`(array['\\x00ff'::bytea, ''])`, '_bytea')).toEqual([[Buffer.from([0, 255]), Buffer.alloc(0)]]);
  const [interval] = await valuesOf(`(interval '1 day 2 hours')`, 'interval');
  expect(String(interval)).toBe('1 day 02:00:00');
});

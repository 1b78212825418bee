import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRows } from './copy-buffer.ts';
import * as columns from './define-copy-table.ts';
import { defineTemporaryCopyTable } from './define-copy-table.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const storedText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
const row = fc.record({
  key: fc.nat(Number.MAX_SAFE_INTEGER),
  bigint: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  numeric: fc.bigInt(0n, 2n ** 192n - 1n),
  integer: fc.integer(),
  smallint: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
  boolean: fc.boolean(),
  bytea: fc.uint8Array({ maxLength: 300 }),
  text: storedText,
  keys: fc.array(fc.nat(Number.MAX_SAFE_INTEGER), { maxLength: 20 }),
  texts: fc.array(storedText, { maxLength: 20 }),
});

test('every value survives a round trip through COPY', async () => {
  const client = await database.pool.connect();
  try {
    await client.query(
      `create temporary table copied (n bigint, key bigint, bigint bigint, numeric numeric, integer integer,
         smallint smallint, boolean boolean, bytea bytea, text text, keys bigint[], texts text[],
         nothing bigint)`,
    );
    const copied = defineTemporaryCopyTable('copied', {
      n: columns.key,
      key: columns.key,
      bigint: columns.bigint,
      numeric: columns.numeric,
      integer: columns.integer,
      smallint: columns.smallint,
      boolean: columns.boolean,
      bytea: columns.bytea,
      text: columns.text,
      keys: columns.keys,
      texts: columns.texts,
      nothing: columns.nullable(columns.bigint),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 50 }), async (rows) => {
        const buffer = copied.createBuffer();
        rows.forEach((fields, n) => buffer.write({ n, ...fields, nothing: null }));
        await client.query('truncate copied');
        await copyRows(client, buffer);
        const { rows: found } = await client.query('select * from copied order by n');
        expect(found).toEqual(
          rows.map((fields, n) => ({
            ...fields,
            n: BigInt(n),
            key: BigInt(fields.key),
            numeric: fields.numeric.toString(),
            bytea: Buffer.from(fields.bytea),
            keys: fields.keys.map(BigInt),
            nothing: null,
          })),
        );
      }),
      { numRuns: 50 },
    );
  } finally {
    client.release();
  }
});

test('a buffer of many megabytes is copied completely, and is reusable', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('create temporary table large (key bigint, bytea bytea)');
    const buffer = defineTemporaryCopyTable('large', { key: columns.key, bytea: columns.bytea }).createBuffer();
    for (let key = 0; key < 5_000; key += 1) buffer.write({ key, bytea: Buffer.alloc(2_000, key % 256) });
    await copyRows(client, buffer);
    buffer.clear();
    buffer.write({ key: 5_000, bytea: Buffer.alloc(1) });
    await copyRows(client, buffer);
    const { rows } = await client.query('select count(*), sum(length(bytea)) from large');
    expect(rows).toEqual([{ count: 5_001n, sum: 10_000_001n }]);
  } finally {
    client.release();
  }
});

test('a row that the table refuses fails the copy with the error of the database', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('create temporary table strict (key bigint primary key)');
    const buffer = defineTemporaryCopyTable('strict', { key: columns.key }).createBuffer();
    for (const key of [1, 1]) buffer.write({ key });
    await expect(copyRows(client, buffer)).rejects.toMatchObject({ code: '23505' });
    await expect(client.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  } finally {
    client.release();
  }
});

const { smallint, integer, bigint, key } = columns;

test.each([
  [smallint, 2 ** 15],
  [smallint, -(2 ** 15) - 1],
  [integer, 2 ** 31],
  [integer, -(2 ** 31) - 1],
  [integer, 0.5],
  [bigint, 2n ** 63n],
  [bigint, -(2n ** 63n) - 1n],
  [key, -1],
  [key, 2 ** 53],
  [key, Number.NaN],
] as const)('a column of type $0.postgresType refuses $1 instead of storing another value', (column, value) => {
  const buffer = defineTemporaryCopyTable('refused', { value: column }).createBuffer();
  expect(() => buffer.write({ value })).toThrow(RangeError);
});

import type { Header } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { copyRows } from './copy-buffer.ts';
import {
  bigint,
  defineCopyTable,
  defineTemporaryCopyTable,
  integer,
  key,
  nullable,
  text,
} from './define-copy-table.ts';
import { BATCH_TABLES, type BatchRow, type BatchRows, LOADED_UTXOS, UTXOS } from './tables.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface SchemaColumn {
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
}

async function readSchema(table: string): Promise<Map<string, SchemaColumn>> {
  const { rows } = await database.pool.query<SchemaColumn & { name: string }>(
    `select a.attname as name, not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "hasDefault",
            case when t.typtype = 'e' then 'text'
              else format_type(a.atttypid, a.atttypmod) end as type
       from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
  return new Map(rows.map(({ name, ...column }) => [name, column]));
}

test.each([...Object.entries(BATCH_TABLES), ['loaded_utxos', LOADED_UTXOS] as const, ['utxos', UTXOS] as const])(
  'the COPY columns of %s are those of the migrated database',
  async (name, table) => {
    expect(table.name).toBe(name);
    const schema = await readSchema(name);
    for (const [column, { postgresType, isNullable }] of Object.entries(table.columns)) {
      expect(schema.get(column), `${name}.${column}`).toMatchObject({ type: postgresType });
      if (isNullable) expect(schema.get(column)?.isNullable, `${name}.${column} is nullable`).toBe(true);
    }
    const missing = [...schema].filter(([column, { isNullable, hasDefault }]) => {
      return !(column in table.columns) && !isNullable && !hasDefault;
    });
    expect(missing, 'columns that need a value').toEqual([]);
  },
);

test('each value of a row arrives in the column of its name', async () => {
  const table = defineTemporaryCopyTable('copied_rows', {
    second: bigint,
    first: bigint,
    missing: nullable(key),
    name: nullable(text),
  });
  const client = await database.pool.connect();
  try {
    await client.query('create temporary table copied_rows (first bigint, second bigint, name text, missing bigint)');
    const rows = table.createBuffer();
    rows.write({ first: 1n, second: 2n, name: 'a', missing: undefined });
    rows.write({ name: null, missing: 3, second: 5n, first: 4n });
    await copyRows(client, rows);
    const { rows: found } = await client.query('select * from copied_rows order by first');
    expect(found).toEqual([
      { first: 1n, second: 2n, name: 'a', missing: null },
      { first: 4n, second: 5n, name: null, missing: 3n },
    ]);
  } finally {
    client.release();
  }
});

/**
 * Is compiled and never called: `@ts-expect-error` is an error itself where the compiler finds
 * none.
 */
export function rejectedByTheCompiler(): void {
  // @ts-expect-error: the table has no such column
  defineCopyTable('block_parents', { block_key: key });
  // @ts-expect-error: the column is a bigint
  defineCopyTable('block_parents', { block_id: integer });
  // @ts-expect-error: the column is not null
  defineCopyTable('block_parents', { block_id: nullable(key) });
  const rows = UTXOS.createBuffer();
  const position = { block_daa_score: 4n, is_coinbase: false, covenant_id: null };
  const utxo = { transaction_id: 1, index: 0, script_id: 2, amount: 3n, ...position };
  const { script_id: script, amount, ...rest } = utxo;
  rows.write({ ...rest, script_id: script, amount });
  // @ts-expect-error: a key and an amount, both bigint columns, are swapped
  rows.write({ ...rest, script_id: amount, amount: script });
  // @ts-expect-error: values are given by name, not by position
  rows.write([1, 0, 2, 3n, 4n, false]);
  // @ts-expect-error: the amount is missing
  rows.write({ ...rest, script_id: script });
}

/** Is compiled and never called, too. */
export function swapsRejectedByTheCompiler(
  rows: BatchRows,
  block: BatchRow<'blocks'>,
  { daaScore, blueScore }: Header,
): void {
  rows.blocks.write({ ...block, daa_score: daaScore, blue_score: blueScore });
  // @ts-expect-error: a blue score in place of a DAA score
  rows.blocks.write({ ...block, daa_score: blueScore });
  // @ts-expect-error: a DAA score in place of a blue score
  rows.blocks.write({ ...block, blue_score: daaScore });
}

type Swappable<Row> = {
  [A in keyof Row]: {
    [B in Exclude<keyof Row, A>]: NonNullable<Row[A]> extends number | bigint
      ? NonNullable<Row[A]> extends NonNullable<Row[B]>
        ? NonNullable<Row[B]> extends NonNullable<Row[A]>
          ? [A, B]
          : never
        : never
      : never;
  }[Exclude<keyof Row, A>];
}[keyof Row];

/**
 * No table has two columns whose values can be swapped: `true` is an error here for a table that
 * has.
 */
export const NONE_SWAPPABLE: {
  [Table in keyof BatchRows]: [Swappable<BatchRow<Table>>] extends [never] ? true : Swappable<BatchRow<Table>>;
} = {
  blocks: true,
  pre_bootstrap_blocks: true,
  block_parents: true,
  chain_blocks: true,
  subnetworks: true,
  transactions: true,
  transaction_variants: true,
  transaction_variant_inputs: true,
  block_transactions: true,
  scripts: true,
  transaction_inputs: true,
  transaction_outputs: true,
  possible_reveals: true,
  unmerged_touches: true,
};

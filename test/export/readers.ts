// What DuckDB and ClickHouse read from exported files, and what Postgres says of the same rows, all as text in one form, so that they can be
// compared. ClickHouse comes as the package chdb.
import { findReaders, type Readers } from './readers/find-readers.ts';

const readers = await findReaders();

/** Whether DuckDB and ClickHouse are installed, as by `npm run test:full`. */
export const hasReaders = readers !== undefined;

function getReaders(): Readers {
  if (readers === undefined)
    throw new Error('DuckDB and ClickHouse are not installed: run test/export/readers/install.ts');
  return readers;
}

/** A cell for each column, then the day. */
export type TextRow = (string | null)[];

interface Dialect {
  bytes: (value: string) => string;
  text: (value: string) => string;
  /** Unix milliseconds. */
  time: (value: string) => string;
  list: (value: string, element: (value: string) => string) => string;
}

const postgres: Dialect = {
  bytes: (value) => `encode(${value}, 'hex')`,
  text: (value) => `(${value})::text`,
  time: (value) => `floor(extract(epoch from ${value}) * 1000)::bigint::text`,
  list: (value, element) =>
    `case when ${value} is not null then array_to_string(array(select coalesce(${element('e')}, 'NULL') from unnest(${value}) with ordinality u (e, o) order by o), ',') end`,
};

const duckdb: Dialect = {
  bytes: (value) => `lower(hex(${value}))`,
  text: (value) => `(${value})::varchar`,
  time: (value) => `epoch_ms(${value})::varchar`,
  list: (value, element) =>
    `array_to_string(list_transform(${value}, lambda e: coalesce(${element('e')}, 'NULL')), ',')`,
};

const clickhouse: Dialect = {
  bytes: (value) => `lower(hex(${value}))`,
  text: (value) => `toString(${value})`,
  time: (value) => `toString(toUnixTimestamp64Milli(${value}))`,
  list: (value, element) => `arrayStringConcat(arrayMap(e -> coalesce(${element('e')}, 'NULL'), ${value}), ',')`,
};

/** Columns of the manifest: name and type. */
export type Columns = Readonly<Record<string, string>>;

function expression(dialect: Dialect, type: string, value: string): string {
  const list = /^LIST<(.*)>$/.exec(type)?.[1];
  if (list !== undefined) return dialect.list(value, (element) => expression(dialect, list, element));
  if (type === 'BYTE_ARRAY') return dialect.bytes(value);
  if (type.startsWith('TIMESTAMP')) return dialect.time(value);
  const scale = /^DECIMAL\(\d+,(\d+)\)$/.exec(type)?.[1];
  // ClickHouse omits trailing zeros, Postgres keeps them.
  if (scale !== undefined && dialect === postgres) return dialect.text(`round(${value}, ${scale})`);
  if (scale !== undefined && dialect === clickhouse) return `toDecimalString(${value}, ${scale})`;
  return dialect.text(value);
}

const listOf = (dialect: Dialect, columns: Columns): string =>
  Object.entries(columns)
    .map(([name, type]) => expression(dialect, type, `r."${name}"`))
    .join(', ');

/** Selects the rows `r` of a query on Postgres as text. */
export const postgresList = (columns: Columns): string => listOf(postgres, columns);

export async function readWithDuckDb(files: string, columns: Columns, partition: string): Promise<TextRow[]> {
  const rows = await askDuckDb(
    `select ${listOf(duckdb, columns)}, r.${partition}::varchar from read_parquet('${files}', hive_partitioning = true) r`,
  );
  return canonical(rows as TextRow[], columns);
}

export function readWithClickHouse(files: string, columns: Columns, partition: string): TextRow[] {
  const rows = ask(
    `select ${listOf(clickhouse, columns)}, toString(r.${partition}) from file('${files}', 'Parquet') r settings use_hive_partitioning = 1`,
  );
  return canonical(rows as TextRow[], columns);
}

/** Returns the column types as the readers see them. */
export async function typesOfReaders(files: string): Promise<Record<string, { duckdb: string; clickhouse: string }>> {
  const ofDuckDb = await askDuckDb(`describe select * from read_parquet('${files}', hive_partitioning = false)`);
  const ofClickHouse = new Map(
    ask(`describe file('${files}', 'Parquet')`).map(([name, type]) => [String(name), String(type)]),
  );
  return Object.fromEntries(
    ofDuckDb.map(([name, type]) => [
      String(name),
      { duckdb: String(type), clickhouse: ofClickHouse.get(String(name)) ?? '' },
    ]),
  );
}

export async function askDuckDb(sql: string): Promise<unknown[][]> {
  const instance = await getReaders().duckDb.DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    await connection.run(`set timezone = 'UTC'`);
    return (await connection.runAndReadAll(sql)).getRows();
  } finally {
    instance.closeSync();
  }
}

function ask(sql: string): unknown[][] {
  return getReaders()
    .clickHouse.query(sql, 'JSONCompactEachRow')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown[]);
}

/** Floating-point numbers are written as JavaScript does. */
export function canonical(rows: readonly TextRow[], columns: Columns): TextRow[] {
  const types = Object.values(columns);
  return rows
    .map((row) =>
      row.map((cell, i) =>
        cell !== null && ['DOUBLE', 'FLOAT'].includes(types[i] ?? '') ? String(Number(cell)) : cell,
      ),
    )
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

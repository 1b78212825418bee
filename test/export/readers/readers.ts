/**
 * Reads exported files with DuckDB and ClickHouse (the package chdb), and selects the same rows
 * from Postgres, all as text in one form.
 */

/**
 * The used part of the packages in this folder. They are optional, so their own types may be
 * missing.
 */
interface DuckDb {
  connect: () => Promise<{ runAndReadAll: (sql: string) => Promise<{ getRows: () => unknown[][] }> }>;
  closeSync: () => void;
}

interface Readers {
  DuckDBInstance: { create: (path: string, options: Record<string, string>) => Promise<DuckDb> };
  query: (sql: string, format: string) => string;
}

const PACKAGES = ['@duckdb/node-api', 'chdb'];
const loaded = await Promise.all(PACKAGES.map((name) => import(name) as Promise<object>)).catch(() => undefined);

/** Whether DuckDB and ClickHouse are installed, as by `npm run test:full`. */
export const hasReaders = loaded !== undefined;

function getReaders(): Readers {
  if (loaded === undefined) {
    throw new Error('DuckDB and ClickHouse are not installed: run test/export/readers/install.ts');
  }
  return Object.assign({}, ...loaded) as Readers;
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
    `case when ${value} is not null
      then array_to_string(array(select coalesce(${element('e')}, 'NULL')
        from unnest(${value}) with ordinality u (e, o) order by o), ',') end`,
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
    `select ${listOf(duckdb, columns)}, r.${partition}::varchar
      from read_parquet('${files}', hive_partitioning = true) r`,
  );
  return canonical(rows as TextRow[], columns);
}

export function readWithClickHouse(files: string, columns: Columns, partition: string): TextRow[] {
  const rows = askClickHouse(
    `select ${listOf(clickhouse, columns)}, toString(r.${partition})
      from file('${files}', 'Parquet') r settings use_hive_partitioning = 1`,
  );
  return canonical(rows as TextRow[], columns);
}

/** Returns the column types as the readers see them. */
export async function typesOfReaders(files: string): Promise<Record<string, { duckdb: string; clickhouse: string }>> {
  const ofDuckDb = await askDuckDb(`describe select * from read_parquet('${files}', hive_partitioning = false)`);
  const ofClickHouse = new Map(
    askClickHouse(`describe file('${files}', 'Parquet')`).map(([name, type]) => [name, type]),
  );
  return Object.fromEntries(
    ofDuckDb.map(([name, type]) => [
      String(name),
      { duckdb: String(type), clickhouse: String(ofClickHouse.get(name)) },
    ]),
  );
}

async function askDuckDb(sql: string): Promise<unknown[][]> {
  const instance = await getReaders().DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    await connection.runAndReadAll(`set timezone = 'UTC'`);
    return (await connection.runAndReadAll(sql)).getRows();
  } finally {
    instance.closeSync();
  }
}

function askClickHouse(sql: string): unknown[][] {
  const lines = getReaders().query(sql, 'JSONCompactEachRow').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown[]);
}

/** Sorts rows, and writes floating-point numbers as JavaScript does. */
export function canonical(rows: readonly TextRow[], columns: Columns): TextRow[] {
  const isFloat = Object.values(columns).map((type) => ['DOUBLE', 'FLOAT'].includes(type));
  const lines = rows.map((row) => row.map((cell, i) => (cell !== null && isFloat[i] ? String(Number(cell)) : cell)));
  return lines
    .map((line) => JSON.stringify(line))
    .sort()
    .map((line) => JSON.parse(line) as TextRow);
}

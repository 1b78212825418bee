/**
 * The exported columns of a view or table, and the query for its rows. Postgres types become
 * Parquet types without loss; types that Parquet does not have are exported as the text of
 * Postgres.
 */
import type { Queryable } from '@kasgres/state';
import type { SchemaElement } from 'hyparquet-writer';

type Scalar = boolean | number | bigint | Uint8Array | null;
/** A value for hyparquet-writer. Strings are UTF-8 bytes. */
export type ParquetValue = Scalar | readonly Scalar[];

interface ColumnType {
  /** Name of the type in Parquet, for the manifest. */
  type: string;
  /** SQL cast of the column, or empty. */
  cast: string;
  /** Schema elements of the file: one, or three for a list. */
  schemaOf: (column: string) => SchemaElement[];
  /** Decodes the binary format of COPY. */
  decode: (bytes: Buffer) => ParquetValue;
}

export interface Column extends ColumnType {
  name: string;
}

/** A view of schema kaspa, or a table of schema public. */
export interface Source {
  schema: 'kaspa' | 'public';
  name: string;
}

/**
 * Keys are not exported, since they differ between databases, and one database may continue the
 * export of another.
 */
const KEY_SUFFIX = '_key';

const COLUMNS = `
  select a.attname as name, a.atttypmod as modifier, t.typname as "typeName"
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
   where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped
   order by a.attnum`;

/** Returns no columns if there is no such view or table. */
export async function listColumns(
  db: Queryable,
  { schema, name }: Source,
  without: readonly string[] = [],
): Promise<Column[]> {
  const { rows } = await db.query<{ name: string; modifier: number; typeName: string }>(COLUMNS, [schema, name]);
  return rows
    .filter((column) => !without.includes(column.name) && !(schema === 'kaspa' && column.name.endsWith(KEY_SUFFIX)))
    .map((column) => ({ name: column.name, ...columnTypeOf(column.name, column.typeName, column.modifier) }));
}

export function describeColumns(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, type]));
}

/** Returns a query without parameters, which COPY does not support. */
export function selectRows({ schema, name }: Source, columns: readonly Column[], where = 'true'): string {
  const list = columns.map((column) => `r."${column.name}"${column.cast}`).join(', ');
  return `select ${list} from ${schema}."${name}" r where ${where}`;
}

/** Days and microseconds between 1970 and 2000, the epoch of Postgres. */
const DAYS_TO_2000 = 10_957;
const MICROSECONDS_TO_2000 = 946_684_800_000_000n;

const DECIMAL_DIGITS = 38;

function plain(
  type: string,
  element: Omit<SchemaElement, 'name'>,
  decode: ColumnType['decode'],
  cast = '',
): ColumnType {
  return { type, cast, schemaOf: (name) => [{ name, repetition_type: 'OPTIONAL', ...element }], decode };
}

const text = (cast = ''): ColumnType => {
  const element = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;
  return plain('STRING', element, (bytes) => bytes, cast);
};

const PLAIN: Readonly<Record<string, ColumnType>> = {
  bool: plain('BOOLEAN', { type: 'BOOLEAN' }, (bytes) => bytes[0] !== 0),
  int2: plain('INT32', { type: 'INT32' }, (bytes) => bytes.readInt16BE()),
  int4: plain('INT32', { type: 'INT32' }, (bytes) => bytes.readInt32BE()),
  int8: plain('INT64', { type: 'INT64' }, (bytes) => bytes.readBigInt64BE()),
  float4: plain('FLOAT', { type: 'FLOAT' }, (bytes) => bytes.readFloatBE()),
  float8: plain('DOUBLE', { type: 'DOUBLE' }, (bytes) => bytes.readDoubleBE()),
  bytea: plain('BYTE_ARRAY', { type: 'BYTE_ARRAY' }, (bytes) => bytes),
  date: plain(
    'DATE',
    { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    (bytes) => bytes.readInt32BE() + DAYS_TO_2000,
  ),
  // Times of the chain are whole milliseconds. Other times, such as those of imports, are
  // truncated.
  timestamptz: plain(
    'TIMESTAMP(MILLIS,UTC)',
    {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    (bytes) => {
      const microseconds = bytes.readBigInt64BE() + MICROSECONDS_TO_2000;
      return (microseconds - (((microseconds % 1000n) + 1000n) % 1000n)) / 1000n;
    },
  ),
  text: text(),
};

/** Numeric columns of whole numbers below 10^38, which Postgres does not tell from the type. */
const WHOLE_NUMBERS = new Set(['nonce', 'lock_time', 'gas', 'sequence', 'received', 'sent', 'volume', 'sompi']);

/**
 * @param typeName pg_type.typname, with a leading underscore for an array
 * @param modifier pg_attribute.atttypmod
 */
export function columnTypeOf(column: string, typeName: string, modifier: number): ColumnType {
  if (typeName === 'numeric') return numericTypeOf(column, modifier);
  const element = typeName.startsWith('_') ? PLAIN[typeName.slice(1)] : undefined;
  return element === undefined ? (PLAIN[typeName] ?? text('::text')) : listOf(element);
}

function numericTypeOf(column: string, modifier: number): ColumnType {
  if (modifier >= 4) {
    const precision = ((modifier - 4) >> 16) & 0xff_ff;
    const scale = (modifier - 4) & 0x7_ff;
    if (precision <= DECIMAL_DIGITS && scale <= precision) return decimal(precision, scale);
  }
  if (column.endsWith('_kas')) return decimal(DECIMAL_DIGITS, 8);
  if (column.endsWith('_share')) return decimal(DECIMAL_DIGITS, 6);
  if (column.endsWith('_sompi') || WHOLE_NUMBERS.has(column)) return decimal(DECIMAL_DIGITS, 0);
  return text('::text');
}

function decimal(precision: number, scale: number): ColumnType {
  const element = {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    logical_type: { type: 'DECIMAL', precision, scale },
    precision,
    scale,
  } as const;
  const decode = (bytes: Buffer): bigint => decodeDecimal(bytes.toString('latin1'), precision, scale);
  return plain(`DECIMAL(${precision},${scale})`, element, decode, '::text');
}

/**
 * Returns a number as a whole number of 10^-scale.
 * @throws Error if the number has more digits
 */
function decodeDecimal(number: string, precision: number, scale: number): bigint {
  if (!/^-?\d/.test(number)) throw new Error('NaN and infinity cannot be exported');
  const [whole = '', fraction = ''] = number.split('.');
  if (/[^0]/.test(fraction.slice(scale))) throw new Error(`A number has more than ${scale} decimals`);
  const value = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
  const limit = 10n ** BigInt(precision);
  if (value >= limit || value <= -limit) throw new Error(`A number has more than ${precision} digits`);
  return value;
}

function listOf(element: ColumnType): ColumnType {
  return {
    type: `LIST<${element.type}>`,
    cast: '',
    schemaOf: (name) => [
      { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...element.schemaOf('element'),
    ],
    decode: (bytes) => decodeArray(bytes, element.decode as (bytes: Buffer) => Scalar),
  };
}

/**
 * Decodes an array of one dimension: dimensions, flags, type, length, lower bound, elements. An
 * empty array has no dimension.
 */
function decodeArray(bytes: Buffer, decode: (bytes: Buffer) => Scalar): Scalar[] {
  const dimensions = bytes.readInt32BE();
  if (dimensions === 0) return [];
  if (dimensions !== 1) throw new Error(`An array of ${dimensions} dimensions cannot be exported`);
  let at = 20;
  return Array.from({ length: bytes.readInt32BE(12) }, () => {
    const length = bytes.readInt32BE(at);
    at += 4 + Math.max(length, 0);
    return length === -1 ? null : decode(bytes.subarray(at - length, at));
  });
}

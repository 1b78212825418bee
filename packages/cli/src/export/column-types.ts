/** Maps Postgres types to Parquet types without loss. Types that Parquet does not have are exported as the text of Postgres. */
import type { SchemaElement } from 'hyparquet';

/** A value for hyparquet-writer. Strings are UTF-8 bytes. */
export type ParquetValue = boolean | number | bigint | Uint8Array | ParquetArray | null;
type ParquetArray = readonly (boolean | number | bigint | Uint8Array | null)[];

export interface ColumnType {
  /** SQL cast of the column, or empty. */
  cast: string;
  /** Name of the type in Parquet, for the manifest. */
  name: string;
  /** Schema elements of the file: one, or three for a list. */
  schemaOf: (column: string) => SchemaElement[];
  /** Decodes the binary format of COPY. */
  decode: (bytes: Buffer) => ParquetValue;
}

interface PostgresType {
  /** pg_type.typname, with a leading underscore for an array. */
  typeName: string;
  /** pg_attribute.atttypmod. */
  modifier: number;
}

/** Days and microseconds between 1970 and 2000, the epoch of Postgres. */
const DAYS_TO_2000 = 10_957;
const MICROSECONDS_TO_2000 = 946_684_800_000_000n;

const DECIMAL_DIGITS = 38;
const DECIMAL_BYTES = 16;

type Element = Omit<SchemaElement, 'name'>;

function plain(name: string, element: Element, decode: ColumnType['decode'], cast = ''): ColumnType {
  return {
    cast,
    name,
    schemaOf: (column) => [{ name: column, repetition_type: 'OPTIONAL', ...element }],
    decode,
  };
}

const string = (cast = ''): ColumnType =>
  plain(
    'STRING',
    { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
    (bytes) => bytes,
    cast,
  );

function decimal(precision: number, scale: number): ColumnType {
  const sizes = { precision, scale };
  return plain(
    `DECIMAL(${precision},${scale})`,
    {
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: DECIMAL_BYTES,
      converted_type: 'DECIMAL',
      logical_type: { type: 'DECIMAL', ...sizes },
      ...sizes,
    },
    (bytes) => decodeNumeric(bytes, sizes),
  );
}

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
  // Times of the chain are whole milliseconds. Other times, such as those of imports, are truncated.
  timestamptz: plain(
    'TIMESTAMP(MILLIS,UTC)',
    {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    (bytes) => floorDivide(bytes.readBigInt64BE() + MICROSECONDS_TO_2000, 1000n),
  ),
  text: string(),
};

/** Names of numeric columns that contain whole numbers below 10^38, which Postgres does not tell from the type. */
const WHOLE_NUMBERS = new Set(['nonce', 'lock_time', 'gas', 'sequence', 'received', 'sent', 'volume', 'sompi']);

/** Returns the type for a Postgres type and, for numerics, the column name. */
export function columnTypeOf(column: string, { typeName, modifier }: PostgresType): ColumnType {
  if (typeName === 'numeric') return numericTypeOf(column, modifier);
  const element = typeName.startsWith('_') ? PLAIN[typeName.slice(1)] : undefined;
  if (element !== undefined) return listOf(element);
  return PLAIN[typeName] ?? string('::text');
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
  return string('::text');
}

function listOf(element: ColumnType): ColumnType {
  return {
    cast: '',
    name: `LIST<${element.name}>`,
    schemaOf: (column) => [
      {
        name: column,
        repetition_type: 'OPTIONAL',
        num_children: 1,
        converted_type: 'LIST',
        logical_type: { type: 'LIST' },
      },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...element.schemaOf('element'),
    ],
    decode: (bytes) => decodeArray(bytes, element.decode as (bytes: Buffer) => ParquetArray[number]),
  };
}

/** Decodes an array of one dimension: dimensions, flags, type, length, lower bound, elements. An empty array has no dimension. */
function decodeArray(bytes: Buffer, decode: (bytes: Buffer) => ParquetArray[number]): ParquetArray {
  const dimensions = bytes.readInt32BE();
  if (dimensions === 0) return [];
  if (dimensions !== 1) throw new Error(`An array of ${dimensions} dimensions cannot be exported`);
  const values: ParquetArray[number][] = [];
  let at = 20;
  for (let left = bytes.readInt32BE(12); left > 0; left -= 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length === -1) {
      values.push(null);
    } else {
      values.push(decode(bytes.subarray(at, at + length)));
      at += length;
    }
  }
  return values;
}

const NUMERIC_NEGATIVE = 0x40_00;
const NUMERIC_POSITIVE = 0;

/**
 * Decodes digits in base 10,000, the first of which has the weight 10,000^weight, as a whole number of 10^-scale.
 * @throws Error if the number has more digits
 */
function decodeNumeric(bytes: Buffer, { precision, scale }: { precision: number; scale: number }): bigint {
  const count = bytes.readInt16BE();
  const weight = bytes.readInt16BE(2);
  const sign = bytes.readUInt16BE(4);
  if (sign !== NUMERIC_POSITIVE && sign !== NUMERIC_NEGATIVE) throw new Error('NaN and infinity cannot be exported');
  let digits = 0n;
  for (let i = 0; i < count; i += 1) digits = digits * 10_000n + BigInt(bytes.readUInt16BE(8 + 2 * i));
  const exponent = 4 * (weight + 1 - count) + scale;
  let value = exponent >= 0 ? digits * 10n ** BigInt(exponent) : digits / 10n ** BigInt(-exponent);
  if (exponent < 0 && value * 10n ** BigInt(-exponent) !== digits)
    throw new Error(`A number has more than ${scale} decimals`);
  if (value >= 10n ** BigInt(precision)) throw new Error(`A number has more than ${precision} digits`);
  if (sign === NUMERIC_NEGATIVE) value = -value;
  return value;
}

function floorDivide(value: bigint, by: bigint): bigint {
  return value >= 0n ? value / by : -((-value + by - 1n) / by);
}

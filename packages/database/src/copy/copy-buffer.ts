/**
 * Rows for `COPY … FROM STDIN (FORMAT binary)`: the fastest way into Postgres (docs/adr/0001).
 * Fields are encoded straight into one growing buffer. Format: PostgreSQL manual, COPY, "Binary
 * Format".
 */
import { type ClientBase, type Connection, Query } from 'pg';

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const INITIAL_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** Types of messages. */
const COPY_DATA = 'd';
const COPY_DONE = 'c';
const INT8_OID = 20;
const TEXT_OID = 25;
const UINT32 = 2 ** 32;
/** Base of the digits of a numeric. */
const NUMERIC_BASE = 10_000;
const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The digits of the numeric that is being encoded, the least first. The largest column has 192
 * bits, which take 15.
 */
const digits = new Uint16Array(16);

/**
 * Fills `digits` and returns their number. Most values are small, and arithmetic of numbers is
 * several times as fast.
 */
function toDigits(value: bigint): number {
  let count = 0;
  let rest = value;
  for (; rest > MAX_NUMBER; rest /= BigInt(NUMERIC_BASE)) digits[count++] = Number(rest % BigInt(NUMERIC_BASE));
  for (let small = Number(rest); small > 0; small = Math.floor(small / NUMERIC_BASE))
    digits[count++] = small % NUMERIC_BASE;
  return count;
}

/** A DataView would store another number. */
const outOfRange = (value: number | bigint, type: FieldType): RangeError =>
  new RangeError(`${value} is out of range for a column of type ${type}`);

/** Methods of CopyBuffer that encode a field. */
export type FieldType =
  | 'key'
  | 'bigint'
  | 'integer'
  | 'smallint'
  | 'boolean'
  | 'numeric'
  | 'bytea'
  | 'text'
  | 'keys'
  | 'texts';

/** Encodes one row: `to.row()`, then each field in the order of the columns. */
export type RowEncoder<Row> = (to: CopyBuffer, row: Row) => void;

/**
 * Created by the `createBuffer` of a table (define-copy-table.ts), whose compiled encoder calls the
 * methods for single fields.
 */
export class CopyBuffer<Row = never> {
  readonly table: string;
  readonly columns: readonly string[];
  rows = 0;
  readonly #encode: RowEncoder<Row>;
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /**
   * A view of #buffer. It writes integers three times as fast as the methods of Buffer; they are
   * big-endian by default, as in Postgres.
   */
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  constructor(table: string, columns: readonly string[], encode: RowEncoder<Row> = () => undefined) {
    this.table = table;
    this.columns = columns;
    this.#encode = encode;
    this.clear();
  }

  write(row: Row): void {
    this.#encode(this, row);
  }

  /** The stream so far, with its trailer. Valid until the next write. */
  contents(): Buffer {
    this.#reserve(2);
    this.#view.setInt16(this.#length, -1);
    return this.#buffer.subarray(0, this.#length + 2);
  }

  clear(): void {
    SIGNATURE.copy(this.#buffer);
    this.#length = SIGNATURE.length;
    this.rows = 0;
  }

  /** Begins a row; the caller then writes one field for each column, in order. */
  row(): void {
    const at = this.#advance(2);
    this.#view.setInt16(at, this.columns.length);
    this.rows += 1;
  }

  null(): void {
    const at = this.#advance(4);
    this.#view.setInt32(at, -1);
  }

  boolean(value: boolean): void {
    const at = this.#advance(5);
    this.#view.setInt32(at, 1);
    this.#view.setUint8(at + 4, value ? 1 : 0);
  }

  smallint(value: number): void {
    if ((value << 16) >> 16 !== value) throw outOfRange(value, 'smallint');
    const at = this.#advance(6);
    this.#view.setInt32(at, 2);
    this.#view.setInt16(at + 4, value);
  }

  integer(value: number): void {
    if ((value | 0) !== value) throw outOfRange(value, 'integer');
    const at = this.#advance(8);
    this.#view.setInt32(at, 4);
    this.#view.setInt32(at + 4, value);
  }

  /** A bigint column from a safe integer that is not negative: a key, an index. */
  key(value: number): void {
    const at = this.#advance(12);
    this.#view.setInt32(at, 8);
    this.#writeKey(value, at + 4);
  }

  bigint(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) throw outOfRange(value, 'bigint');
    const at = this.#advance(12);
    this.#view.setInt32(at, 8);
    this.#view.setBigInt64(at + 4, value);
  }

  /** A numeric column from an integer that is not negative. */
  numeric(value: bigint): void {
    const count = toDigits(value);
    const at = this.#advance(12 + 2 * count);
    this.#view.setInt32(at, 8 + 2 * count);
    this.#view.setInt16(at + 4, count);
    this.#view.setInt16(at + 6, Math.max(count - 1, 0)); // weight of the first digit
    this.#view.setInt32(at + 8, 0); // positive, and no digits after the point
    for (let i = 0; i < count; i += 1) this.#view.setInt16(at + 12 + 2 * i, digits[count - 1 - i] as number);
  }

  bytea(value: Uint8Array): void {
    const size = value.length;
    const at = this.#advance(4 + size);
    this.#view.setInt32(at, size);
    this.#buffer.set(value, at + 4);
  }

  /** A text or enum column. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    const at = this.#advance(4 + size);
    this.#view.setInt32(at, size);
    this.#buffer.write(value, at + 4);
  }

  /** A bigint[] column from keys. */
  keys(values: readonly number[]): void {
    let at = this.#beginArray(INT8_OID, values.length, values.length * 12);
    for (const value of values) {
      this.#view.setInt32(at, 8);
      this.#writeKey(value, at + 4);
      at += 12;
    }
  }

  /** A text[] column. */
  texts(values: readonly string[]): void {
    const sizes = values.map((value) => Buffer.byteLength(value));
    let at = this.#beginArray(
      TEXT_OID,
      values.length,
      sizes.reduce((sum, bytes) => sum + 4 + bytes, 0),
    );
    for (const [index, value] of values.entries()) {
      this.#view.setInt32(at, sizes[index] ?? 0);
      at += 4;
      at += this.#buffer.write(value, at);
    }
  }

  /**
   * Writes the header of an array and returns the position of its elements. An empty array has no
   * dimension.
   */
  #beginArray(oid: number, count: number, elementBytes: number): number {
    const size = (count === 0 ? 12 : 20) + elementBytes;
    const at = this.#advance(4 + size);
    this.#view.setInt32(at, size);
    this.#view.setInt32(at + 4, count === 0 ? 0 : 1);
    this.#view.setInt32(at + 8, 0); // contains no null
    this.#view.setInt32(at + 12, oid);
    if (count === 0) return at + 16;
    this.#view.setInt32(at + 16, count);
    this.#view.setInt32(at + 20, 1); // lower bound
    return at + 24;
  }

  #writeKey(value: number, at: number): void {
    if (!(value >= 0 && Number.isSafeInteger(value)))
      throw new RangeError(`${value} is no key: it must be a safe integer of at least 0`);
    this.#view.setUint32(at, Math.floor(value / UINT32));
    this.#view.setUint32(at + 4, value % UINT32);
  }

  /** Makes room for more bytes, and returns their position. */
  #advance(bytes: number): number {
    this.#reserve(bytes);
    const at = this.#length;
    this.#length += bytes;
    return at;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/**
 * Sends the rows of a buffer to its table, inside the client's transaction. Sends nothing for no
 * rows.
 *
 * The rows follow the statement at once, without waiting for the server to ask for them, so that
 * further statements can be sent behind them. The server ignores the rows if the statement fails
 * (PostgreSQL manual, "Message Flow", COPY Operations).
 */
export async function copyRows(client: ClientBase, buffer: CopyBuffer): Promise<void> {
  if (buffer.rows === 0) return;
  const columns = buffer.columns.map((column) => `"${column}"`).join(', ');
  const text = `copy ${buffer.table} (${columns}) from stdin (format binary)`;
  await new Promise<void>((resolve, reject) => {
    const query = new Query(text, (error) => (error ? reject(error) : resolve()));
    const { submit } = query;
    client.query(
      Object.assign(query, {
        submit: (connection: Connection) => {
          const { stream } = connection;
          stream.cork();
          submit.call(query, connection);
          const contents = buffer.contents();
          for (let at = 0; at < contents.length; at += CHUNK_BYTES) {
            const chunk = contents.subarray(at, at + CHUNK_BYTES);
            stream.write(encodeHeader(COPY_DATA, chunk.length));
            stream.write(chunk);
          }
          stream.write(encodeHeader(COPY_DONE, 0));
          stream.uncork();
        },
        handleCopyInResponse: () => undefined,
      }),
    );
  });
}

/** Returns the type of a message and its length, which counts itself. */
function encodeHeader(type: string, length: number): Buffer {
  const header = Buffer.from(`${type}....`, 'latin1');
  header.writeUInt32BE(4 + length, 1);
  return header;
}

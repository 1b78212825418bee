/**
 * Rows for `COPY … FROM STDIN (FORMAT binary)`: the fastest way into Postgres (docs/adr/0001). Fields are encoded straight into one
 * growing buffer. Format: PostgreSQL manual, COPY, "Binary Format".
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

/** The digits of the numeric that is being encoded, the least first. The largest column has 192 bits, which take 15. */
const digits = new Uint16Array(16);

/** Fills `digits` and returns their number. Most values are small, and arithmetic of numbers is several times as fast. */
function toDigits(value: bigint): number {
  let count = 0;
  let rest = value;
  for (; rest > MAX_NUMBER; rest /= BigInt(NUMERIC_BASE)) digits[count++] = Number(rest % BigInt(NUMERIC_BASE));
  for (let small = Number(rest); small > 0; small = Math.floor(small / NUMERIC_BASE))
    digits[count++] = small % NUMERIC_BASE;
  return count;
}

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

/** Created by the `createBuffer` of a table (define-copy-table.ts), whose compiled encoder calls the methods for single fields. */
export class CopyBuffer<Row = never> {
  readonly table: string;
  readonly columns: readonly string[];
  rows = 0;
  readonly #encode: RowEncoder<Row>;
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
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
    const trailer = this.#length;
    this.#buffer.writeInt16BE(-1, trailer);
    return this.#buffer.subarray(0, trailer + 2);
  }

  clear(): void {
    SIGNATURE.copy(this.#buffer);
    this.#length = SIGNATURE.length;
    this.rows = 0;
  }

  /** Begins a row; the caller then writes one field for each column, in order. */
  row(): void {
    this.#reserve(2);
    this.#length = this.#buffer.writeInt16BE(this.columns.length, this.#length);
    this.rows += 1;
  }

  null(): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeInt32BE(-1, this.#length);
  }

  boolean(value: boolean): void {
    this.#reserve(5);
    const at = this.#buffer.writeInt32BE(1, this.#length);
    this.#length = this.#buffer.writeUInt8(value ? 1 : 0, at);
  }

  smallint(value: number): void {
    this.#reserve(6);
    const at = this.#buffer.writeInt32BE(2, this.#length);
    this.#length = this.#buffer.writeInt16BE(value, at);
  }

  integer(value: number): void {
    this.#reserve(8);
    const at = this.#buffer.writeInt32BE(4, this.#length);
    this.#length = this.#buffer.writeInt32BE(value, at);
  }

  /** A bigint column from a safe integer that is not negative: a key, an index. */
  key(value: number): void {
    this.#reserve(12);
    const at = this.#buffer.writeInt32BE(8, this.#length);
    this.#writeKey(value, at);
    this.#length = at + 8;
  }

  bigint(value: bigint): void {
    this.#reserve(12);
    const at = this.#buffer.writeInt32BE(8, this.#length);
    this.#length = this.#buffer.writeBigInt64BE(value, at);
  }

  /** A numeric column from an integer that is not negative. */
  numeric(value: bigint): void {
    const count = toDigits(value);
    this.#reserve(12 + 2 * count);
    let at = this.#buffer.writeInt32BE(8 + 2 * count, this.#length);
    at = this.#buffer.writeInt16BE(count, at);
    at = this.#buffer.writeInt16BE(Math.max(count - 1, 0), at); // weight of the first digit
    at = this.#buffer.writeInt16BE(0, at); // positive
    at = this.#buffer.writeInt16BE(0, at); // no digits after the point
    for (let i = count - 1; i >= 0; i -= 1) at = this.#buffer.writeInt16BE(digits[i] as number, at);
    this.#length = at;
  }

  bytea(value: Uint8Array): void {
    const size = value.length;
    this.#reserve(4 + size);
    const at = this.#buffer.writeInt32BE(size, this.#length);
    this.#buffer.set(value, at);
    this.#length = at + size;
  }

  /** A text or enum column. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#reserve(4 + size);
    const at = this.#buffer.writeInt32BE(size, this.#length);
    this.#buffer.write(value, at);
    this.#length = at + size;
  }

  /** A bigint[] column from keys. */
  keys(values: readonly number[]): void {
    let at = this.#beginArray(INT8_OID, values.length, values.length * 12);
    for (const value of values) {
      at = this.#buffer.writeInt32BE(8, at);
      this.#writeKey(value, at);
      at += 8;
    }
    this.#length = at;
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
      at = this.#buffer.writeInt32BE(sizes[index] ?? 0, at);
      at += this.#buffer.write(value, at);
    }
    this.#length = at;
  }

  /** Writes the header of an array and returns the position of its elements. An empty array has no dimension. */
  #beginArray(oid: number, count: number, elementBytes: number): number {
    const size = (count === 0 ? 12 : 20) + elementBytes;
    this.#reserve(4 + size);
    let at = this.#buffer.writeInt32BE(size, this.#length);
    at = this.#buffer.writeInt32BE(count === 0 ? 0 : 1, at);
    at = this.#buffer.writeInt32BE(0, at); // contains no null
    at = this.#buffer.writeInt32BE(oid, at);
    if (count === 0) return at;
    at = this.#buffer.writeInt32BE(count, at);
    return this.#buffer.writeInt32BE(1, at); // lower bound
  }

  #writeKey(value: number, at: number): void {
    this.#buffer.writeUInt32BE(Math.floor(value / UINT32), at);
    this.#buffer.writeUInt32BE(value % UINT32, at + 4);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/**
 * Sends the rows of a buffer to its table, inside the client's transaction. Sends nothing for no rows.
 *
 * The rows follow the statement at once, without waiting for the server to ask for them, so that further statements can be sent behind
 * them. The server ignores the rows if the statement fails (PostgreSQL manual, "Message Flow", COPY Operations).
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

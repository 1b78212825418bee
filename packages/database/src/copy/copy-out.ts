/**
 * Rows of `COPY … TO STDOUT (FORMAT binary)`, the fastest way out of Postgres: each field as the
 * bytes that the server sent. Format: PostgreSQL manual, COPY, "Binary Format".
 */
import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const SIGNATURE_BYTES = 11;
/** Signature, flags, and the length of the header extension. */
const HEADER_BYTES = SIGNATURE_BYTES + 8;
const TRAILER = -1;
const NULL = -1;

/** Called for each field in order, with `undefined` for null. The bytes stay valid. */
export type OnField = (column: number, bytes: Buffer | undefined) => void;

/**
 * Calls `onField` for each field of a query's rows and `onRow` after each row.
 * @returns the number of rows
 */
export async function copyOut(client: PoolClient, query: string, onField: OnField, onRow: () => void): Promise<number> {
  let rows = 0;
  for await (const whole of cutRows(copyChunks(client, query))) rows += readRows(whole, onField, onRow);
  return rows;
}

/**
 * Yields the bytes of `COPY … TO STDOUT (FORMAT binary)` for a query. If the caller stops before
 * the end, for example because the disk is full, the connection is destroyed: nothing would read
 * the remaining rows, and every later statement would wait behind them forever.
 */
export async function* copyChunks(client: PoolClient, query: string): AsyncGenerator<Buffer> {
  const stream = client.query(copyTo(`copy (${query}) to stdout (format binary)`));
  let isOver = false;
  const setOver = (): void => {
    isOver = true;
  };
  // The destroyed connection emits an error, too, which nobody else listens to.
  stream.on('end', setOver).on('error', setOver);
  try {
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    if (!isOver) client.connection.stream.destroy();
  }
}

/** Yields buffers of whole rows, without the header and the trailer of the stream. */
export async function* cutRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let isBehindHeader = false;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!isBehindHeader) {
      if (rest.length < HEADER_BYTES) continue;
      rest = rest.subarray(HEADER_BYTES + rest.readInt32BE(HEADER_BYTES - 4));
      isBehindHeader = true;
    }
    const end = endOfRows(rest);
    if (end > 0) yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}

/**
 * Calls `onField` for each field and `onRow` after each row.
 * @param bytes whole rows
 * @returns the number of rows
 */
export function readRows(bytes: Buffer, onField: OnField, onRow: () => void): number {
  let rows = 0;
  for (let at = 0; at < bytes.length; rows += 1) {
    const columns = bytes.readInt16BE(at);
    at += 2;
    for (let column = 0; column < columns; column += 1) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (length === NULL) {
        onField(column, undefined);
      } else {
        onField(column, bytes.subarray(at, at + length));
        at += length;
      }
    }
    onRow();
  }
  return rows;
}

function endOfRows(bytes: Buffer): number {
  for (let at = 0; ; ) {
    const end = endOfRow(bytes, at);
    if (end === undefined) return at;
    at = end;
  }
}

/** Returns where the row at `at` ends; undefined for an incomplete row and for the trailer. */
function endOfRow(bytes: Buffer, at: number): number | undefined {
  if (at + 2 > bytes.length) return undefined;
  const columns = bytes.readInt16BE(at);
  if (columns === TRAILER) return undefined;
  let end = at + 2;
  for (let column = 0; column < columns; column += 1) {
    if (end + 4 > bytes.length) return undefined;
    const length = bytes.readInt32BE(end);
    end += 4 + Math.max(length, 0);
  }
  return end > bytes.length ? undefined : end;
}

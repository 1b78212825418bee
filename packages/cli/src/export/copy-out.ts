// Rows of `COPY … TO STDOUT (FORMAT binary)`, the fastest way out of Postgres: each field as the bytes that the server sent. Format:
// PostgreSQL manual, COPY, "Binary Format".

import type { PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const SIGNATURE_BYTES = 11;
/** Signature, flags, length of an extension that nobody has defined yet. */
const HEADER_BYTES = SIGNATURE_BYTES + 8;
const TRAILER = -1;
const NULL = -1;

/** Hears of each field in turn, `undefined` for null; the bytes stay valid. */
type OnField = (column: number, bytes: Buffer | undefined) => void;

/**
 * Calls `onField` for each field and `onRow` after each row; what `onRow` returns is waited for before more is read.
 * @returns the number of rows
 */
export async function copyOut(client: PoolClient, query: string, onField: OnField, onRow: () => void): Promise<number> {
  const stream = client.query(copyTo(`copy (${query}) to stdout (format binary)`));
  let rest: Buffer = Buffer.alloc(0);
  let isBehindHeader = false;
  let rows = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    if (!isBehindHeader) {
      if (bytes.length < HEADER_BYTES) {
        rest = bytes;
        continue;
      }
      at = HEADER_BYTES + bytes.readInt32BE(HEADER_BYTES - 4);
      isBehindHeader = true;
    }
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end === undefined) break;
      const columns = bytes.readInt16BE(at);
      if (columns === TRAILER) {
        at = end;
        continue;
      }
      let field = at + 2;
      for (let column = 0; column < columns; column += 1) {
        const length = bytes.readInt32BE(field);
        field += 4;
        if (length === NULL) {
          onField(column, undefined);
        } else {
          onField(column, bytes.subarray(field, field + length));
          field += length;
        }
      }
      at = end;
      rows += 1;
      onRow();
    }
    rest = bytes.subarray(at);
  }
  return rows;
}

/** Where the row at `at` ends; undefined while not all of it is there. */
function endOfRow(bytes: Buffer, at: number): number | undefined {
  if (at + 2 > bytes.length) return undefined;
  const columns = bytes.readInt16BE(at);
  let end = at + 2;
  for (let column = 0; column < columns; column += 1) {
    if (end + 4 > bytes.length) return undefined;
    const length = bytes.readInt32BE(end);
    end += 4 + Math.max(length, 0);
  }
  return end > bytes.length ? undefined : end;
}

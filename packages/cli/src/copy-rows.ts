// Rows of `COPY … TO STDOUT (FORMAT binary)`, the fastest way out of Postgres: each field as the bytes that the server sent. Format:
// PostgreSQL manual, COPY, "Binary Format".

const SIGNATURE_BYTES = 11;
/** Signature, flags, length of an extension that nobody has defined yet. */
const HEADER_BYTES = SIGNATURE_BYTES + 8;
const TRAILER = -1;
const NULL = -1;

/** Hears of each field in turn, `undefined` for null; the bytes stay valid. */
export type OnField = (column: number, bytes: Buffer | undefined) => void;

/** Cuts what COPY sends into pieces of whole rows, without header and trailer. */
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

/** Where the last whole row ends; the trailer is none. */
function endOfRows(bytes: Buffer): number {
  for (let at = 0; ; ) {
    const end = endOfRow(bytes, at);
    if (end === undefined) return at;
    at = end;
  }
}

/** Where the row at `at` ends; undefined while not all of it is there. */
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

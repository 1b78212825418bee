/**
 * A file of records that only grows. A record is written by one call before anybody hears of what it holds, so a process that is killed
 * loses nothing that was told; what the kill left half written at the end is cut off at the next start. (A machine that loses power may
 * lose the end of the file: a demo need not wait for its disk.)
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** A record is its length and a checksum, both 32 bits, and then its bytes. */
const PREFIX_BYTES = 8;

export class Journal {
  private readonly file: number;

  private constructor(file: number) {
    this.file = file;
  }

  /** Opens or creates the file, and returns with it the records that it holds: views of one buffer. */
  static open(path: string): { journal: Journal; records: Buffer[] } {
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    const { records, end } = readRecords(bytes);
    const file = openSync(path, 'a');
    ftruncateSync(file, end);
    return { journal: new Journal(file), records };
  }

  append(record: Uint8Array): void {
    const bytes = Buffer.allocUnsafe(PREFIX_BYTES + record.length);
    bytes.writeUInt32LE(record.length, 0);
    bytes.writeUInt32LE(crc32(record), 4);
    bytes.set(record, PREFIX_BYTES);
    for (let written = 0; written < bytes.length; ) written += writeSync(this.file, bytes, written);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** The records up to the first that is cut short or damaged, and where that is. */
function readRecords(bytes: Buffer): { records: Buffer[]; end: number } {
  const records: Buffer[] = [];
  let end = 0;
  while (end + PREFIX_BYTES <= bytes.length) {
    const start = end + PREFIX_BYTES;
    const next = start + bytes.readUInt32LE(end);
    const record = bytes.subarray(start, next);
    if (next > bytes.length || crc32(record) !== bytes.readUInt32LE(end + 4)) break;
    records.push(record);
    end = next;
  }
  return { records, end };
}

/**
 * The persisted chain: a file of records. A killed process loses no announced block; a power
 * failure may, since the file is not synced.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { Hash, ScriptPublicKey } from '@kasgres/kaspa';
import { bytesKey, scriptKey } from '../economy/utxo.ts';
import type { BlockBody } from './consensus/consensus.ts';

/** A record starts with its length and checksum, both of 32 bits. */
const PREFIX_BYTES = 8;

export class Journal {
  private readonly file: number;

  private constructor(file: number) {
    this.file = file;
  }

  /** Cuts off an incomplete record at the end. */
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

export function encodeBlock(body: BlockBody): Buffer {
  return serialize(body);
}

/**
 * Decodes blocks whose byte arrays are views of the input. Equal hashes and scripts are the same
 * objects, which halves the memory of a chain.
 */
export class BlockDecoder {
  private readonly blockHashes = new Map<string, Hash>();
  private readonly scripts = new Map<string, ScriptPublicKey>();

  decode(bytes: Buffer): BlockBody {
    const { header, transactions, hash } = deserialize(bytes) as BlockBody;
    const shared = (blockHash: Hash) => first(this.blockHashes, bytesKey(blockHash), blockHash);
    for (const { outputs } of transactions) {
      for (const output of outputs) {
        output.scriptPublicKey = first(this.scripts, scriptKey(output.scriptPublicKey), output.scriptPublicKey);
      }
    }
    const parentsByLevel = header.parentsByLevel.map((hashes) => hashes.map(shared));
    const pruningPoint = shared(header.pruningPoint);
    return { hash: shared(hash), header: { ...header, parentsByLevel, pruningPoint }, transactions };
  }
}

function first<T>(values: Map<string, T>, key: string, value: T): T {
  const known = values.get(key);
  if (known === undefined) values.set(key, value);
  return known ?? value;
}

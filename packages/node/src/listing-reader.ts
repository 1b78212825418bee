/**
 * Reads the response to a listing of the mempool while it arrives. A mempool may have hundreds of
 * megabytes, so entries are passed on as soon as they are complete, still encoded: whoever knows an
 * entry already need not decode it.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { getResponseField } from './envelope.ts';
import { NodeProtocolError, NodeResponseTooLargeError, NodeRpcError } from './errors.ts';
import { RpcErrorSchema } from './generated/kaspad_pb.ts';
import { WireReader } from './wire-reader.ts';

export type ListingOp = 'getMempoolEntries' | 'getMempoolEntriesByAddresses';

/** An encoded entry. */
export interface ListedEntry {
  /** The address whose entry it is, in a listing by addresses. */
  address: string | undefined;
  bytes: Uint8Array;
}

const PREFIX_BYTES = 5;
/** Hex of the largest transaction that fits into a block. */
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
/** The bytes of a field's head: its tag and its length, or its number. */
const MAX_HEAD_BYTES = 15;

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** How many messages enclose a field. */
const IN_ENVELOPE = 1;
const IN_RESPONSE = 2;
const IN_ADDRESS = 3;

const ID_FIELD = 101;
const ERROR_FIELD = 1000;
const ENTRIES_FIELD = 1;
const ADDRESS_FIELD = 1;

export interface ListingReaderOptions {
  op: ListingOp;
  /** The id of the request. */
  id: number;
  /** A longer response is refused before it is received. */
  limitBytes: number;
}

export class ListingReader {
  readonly #options: ListingReaderOptions;
  readonly #responseField: number;
  /**
   * Bytes that are received and not read yet. They are joined when enough for the next step has
   * been received.
   */
  #parts: Uint8Array[] = [];
  #received = 0;
  #needed = PREFIX_BYTES;
  /**
   * Ends of the enclosing messages, the outermost first, as positions in the outermost; undefined
   * before its length is known.
   */
  #ends: number[] | undefined;
  #position = 0;
  #hasResponse = false;
  #address: string | undefined;

  constructor(options: ListingReaderOptions) {
    this.#options = options;
    this.#responseField = getResponseField(`${options.op}Response`).number;
  }

  /** Whether the whole response has been read. */
  get isDone(): boolean {
    return this.#ends?.length === 0;
  }

  /**
   * Returns the entries that this chunk completes. Throws NodeRpcError, NodeProtocolError or
   * NodeResponseTooLargeError.
   */
  push(chunk: Uint8Array): ListedEntry[] {
    this.#parts.push(chunk);
    this.#received += chunk.length;
    if (this.#received < this.#needed) return [];
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    const entries: ListedEntry[] = [];
    let used = 0;
    let step = this.#read(bytes, used, entries);
    while (step > 0) {
      used += step;
      step = this.#read(bytes, used, entries);
    }
    if (this.isDone && used < bytes.length) throw new NodeProtocolError('the node sent a message without a request');
    this.#parts = used === bytes.length ? [] : [bytes.subarray(used)];
    this.#received = bytes.length - used;
    return entries;
  }

  /**
   * Reads the next field, or the head of one that encloses others. Returns the number of bytes
   * read, 0 if more are needed or none are left.
   */
  #read(bytes: Uint8Array, start: number, entries: ListedEntry[]): number {
    if (this.#ends === undefined) return this.#readPrefix(bytes, start);
    this.#leaveEnded(this.#ends);
    const end = this.#ends.at(-1);
    if (end === undefined) return 0;
    const available = bytes.length - start;
    const head = new WireReader(bytes, start, Math.min(bytes.length, start + end - this.#position));
    // A number ends with a byte below 128, or with the message.
    const isComplete = available >= Math.min(MAX_HEAD_BYTES, end - this.#position);
    if (!isComplete) return this.#wait(available + 1);
    const tag = head.tag();
    const wireType = tag & 7;
    if (wireType === WIRE_VARINT) {
      const value = head.uint64();
      if (this.#ends.length === IN_ENVELOPE && tag >>> 3 === ID_FIELD && value !== BigInt(this.#options.id))
        throw new NodeProtocolError(`the node responded to request ${value} instead of ${this.#options.id}`);
      return this.#advance(head.position - start, end);
    }
    if (wireType === WIRE_FIXED64 || wireType === WIRE_FIXED32) {
      const length = head.position - start + (wireType === WIRE_FIXED64 ? 8 : 4);
      return available < length ? this.#wait(length) : this.#advance(length, end);
    }
    if (wireType !== WIRE_BYTES) throw new NodeProtocolError(`malformed message: unknown wire type ${wireType}`);
    const length = head.uint32();
    const headBytes = head.position - start;
    const field = tag >>> 3;
    if (this.#encloses(field)) {
      const read = this.#advance(headBytes, end);
      if (this.#position + length > end) throw runsBeyond();
      this.#ends.push(this.#position + length);
      return read;
    }
    if (length > MAX_ENTRY_BYTES) throw new NodeProtocolError(`the node sent a field of ${length} bytes in a listing`);
    if (available < headBytes + length) return this.#wait(headBytes + length);
    this.#take(field, bytes.subarray(start + headBytes, start + headBytes + length), entries);
    return this.#advance(headBytes + length, end);
  }

  #readPrefix(bytes: Uint8Array, start: number): number {
    if (bytes.length - start < PREFIX_BYTES) return this.#wait(PREFIX_BYTES);
    const length = new DataView(bytes.buffer, bytes.byteOffset + start).getUint32(1);
    if (bytes[start] !== 0) throw new NodeProtocolError('the node sent data that is not an uncompressed gRPC message');
    if (length > this.#options.limitBytes) throw new NodeResponseTooLargeError(this.#options.op, length);
    this.#ends = [length];
    return PREFIX_BYTES;
  }

  /** Leaves the messages that end here. */
  #leaveEnded(ends: number[]): void {
    while (ends.length > 0 && ends.at(-1) === this.#position) {
      if (ends.length === IN_ADDRESS) this.#address = undefined;
      ends.pop();
    }
    if (ends.length === 0 && !this.#hasResponse)
      throw new NodeProtocolError('the node sent a message without a response');
  }

  #encloses(field: number): boolean {
    const depth = this.#ends?.length;
    if (depth === IN_ENVELOPE && field === this.#responseField) {
      this.#hasResponse = true;
      return true;
    }
    return depth === IN_RESPONSE && field === ENTRIES_FIELD && this.#options.op === 'getMempoolEntriesByAddresses';
  }

  #take(field: number, bytes: Uint8Array, entries: ListedEntry[]): void {
    const depth = this.#ends?.length;
    if (depth === IN_ENVELOPE && field >= ERROR_FIELD)
      throw new NodeProtocolError(`the node responded to ${this.#options.op} with message ${field}`);
    if (depth === IN_RESPONSE && field === ERROR_FIELD)
      throw new NodeRpcError(this.#options.op, fromBinary(RpcErrorSchema, bytes).message);
    if (depth === IN_RESPONSE && field === ENTRIES_FIELD) entries.push({ address: undefined, bytes });
    if (depth !== IN_ADDRESS) return;
    if (field === ADDRESS_FIELD) {
      this.#address = Buffer.from(bytes).toString('utf8');
      return;
    }
    if (this.#address === undefined) throw new NodeProtocolError('the node sent entries before their address');
    entries.push({ address: this.#address, bytes });
  }

  #advance(count: number, end: number): number {
    this.#position += count;
    if (this.#position > end) throw runsBeyond();
    this.#needed = 1;
    return count;
  }

  #wait(needed: number): number {
    this.#needed = needed;
    return 0;
  }
}

const runsBeyond = (): NodeProtocolError => new NodeProtocolError('malformed message: a field runs beyond its message');

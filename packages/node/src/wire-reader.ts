/**
 * Reads protobuf without a schema: the caller knows which fields to expect, and skips the others.
 * 64-bit integers are bigint. Throws NodeProtocolError for truncated or overlong data.
 */
import { NodeProtocolError } from './errors.ts';

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** Returns the tag of a varint field: integers, booleans. */
export function varintTag(field: number): number {
  return field * 8 + WIRE_VARINT;
}

/** Returns the tag of a field with a length: strings, messages, packed lists. */
export function bytesTag(field: number): number {
  return field * 8 + WIRE_BYTES;
}

/** Returns the tag of a double. */
export function fixed64Tag(field: number): number {
  return field * 8 + WIRE_FIXED64;
}

// Converting two 32-bit halves is faster than BigInt arithmetic. Typed arrays are little-endian on
// all platforms of Node.
const halves = new Uint32Array(2);
const unsigned = new BigUint64Array(halves.buffer);
const signed = new BigInt64Array(halves.buffer);

export class WireReader {
  readonly bytes: Uint8Array;
  position: number;
  /** End of the current message. */
  end: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether the current message has another field. */
  get more(): boolean {
    return this.position < this.end;
  }

  /** Enters a nested message; pass the result to `leave`. */
  enter(): number {
    const outerEnd = this.end;
    const length = this.length();
    this.end = this.position + length;
    return outerEnd;
  }

  leave(outerEnd: number): void {
    if (this.position !== this.end) throw malformed(`a field runs beyond its message at byte ${this.end}`);
    this.end = outerEnd;
  }

  /** Reads the field number and wire type of the next field (see `varintTag`). */
  tag(): number {
    const tag = this.uint32();
    if (tag < 8) throw malformed(`field number 0 at byte ${this.position}`);
    return tag;
  }

  /** Drops higher bits, as protobuf specifies. */
  uint32(): number {
    const { bytes } = this;
    let byte = bytes[this.position++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = bytes[this.position++] as number;
      if (shift < 35) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw malformed(`a number has no end at byte ${this.position}`);
  }

  /**
   * Reads a number that has 16 bits in Kaspa. Hashes would drop higher bits, and so not show that
   * they are wrong.
   */
  uint16(): number {
    return this.#atMost(0xffff);
  }

  /** Reads a number that has 8 bits in Kaspa, as `uint16` does. */
  uint8(): number {
    return this.#atMost(0xff);
  }

  uint64(): bigint {
    this.#readHalves();
    return unsigned[0] as bigint;
  }

  int64(): bigint {
    this.#readHalves();
    return signed[0] as bigint;
  }

  bool(): boolean {
    this.#readHalves();
    return unsigned[0] !== 0n;
  }

  double(): number {
    const start = this.position;
    this.#advance(8);
    return this.#view.getFloat64(start, true);
  }

  text(): string {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, length).toString('utf8');
  }

  /** Returns a view of the bytes of a field with a length. */
  view(): Uint8Array {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + start, length);
  }

  /** Reads the length of a string or message, which begins at `position` and is complete. */
  length(): number {
    const length = this.uint32();
    if (length > this.end - this.position)
      throw malformed(`a field is longer than its message at byte ${this.position}`);
    return length;
  }

  /** Skips the field of this tag. */
  skip(tag: number): void {
    const wireType = tag & 7;
    if (wireType === WIRE_VARINT) this.#readHalves();
    else if (wireType === WIRE_BYTES) this.#advance(this.length());
    else if (wireType === WIRE_FIXED64) this.#advance(8);
    else if (wireType === WIRE_FIXED32) this.#advance(4);
    else throw malformed(`unknown wire type ${wireType} at byte ${this.position}`);
  }

  #advance(count: number): void {
    if (count > this.end - this.position) throw malformed(`the message is cut off at byte ${this.end}`);
    this.position += count;
  }

  #atMost(greatest: number): number {
    const value = this.uint64();
    if (value > BigInt(greatest)) throw malformed(`a number is above ${greatest} at byte ${this.position}`);
    return Number(value);
  }

  #readHalves(): void {
    const { bytes } = this;
    let byte = bytes[this.position++] as number;
    if (byte < 0x80) {
      halves[0] = byte;
      halves[1] = 0;
      return;
    }
    let low = byte & 0x7f;
    let high = 0;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = bytes[this.position++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) {
        halves[0] = low;
        halves[1] = high;
        return;
      }
    }
    throw malformed(`a number has no end at byte ${this.position}`);
  }
}

function malformed(reason: string): NodeProtocolError {
  return new NodeProtocolError(`malformed message: ${reason}`);
}

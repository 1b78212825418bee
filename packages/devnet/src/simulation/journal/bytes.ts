/** Writes and reads the few kinds of numbers and byte strings that a journal record is made of; little-endian. */

export class ByteSink {
  private buffer = Buffer.allocUnsafe(16_384);
  private length = 0;

  uint8(value: number): this {
    const start = this.claim(1);
    this.buffer.writeUInt8(value, start);
    return this;
  }

  uint16(value: number): this {
    const start = this.claim(2);
    this.buffer.writeUInt16LE(value, start);
    return this;
  }

  uint32(value: number): this {
    const start = this.claim(4);
    this.buffer.writeUInt32LE(value, start);
    return this;
  }

  uint64(value: bigint): this {
    const start = this.claim(8);
    this.buffer.writeBigUInt64LE(value, start);
    return this;
  }

  bytes(bytes: Uint8Array): this {
    const start = this.claim(bytes.length);
    this.buffer.set(bytes, start);
    return this;
  }

  lengthAndBytes(bytes: Uint8Array): this {
    return this.uint32(bytes.length).bytes(bytes);
  }

  /** A copy of what was written; the next record starts afresh. */
  take(): Buffer {
    const written = Buffer.from(this.buffer.subarray(0, this.length));
    this.length = 0;
    return written;
  }

  /** Makes room, for which the buffer may be replaced by a larger one; returns where to write. */
  private claim(bytes: number): number {
    const start = this.length;
    this.length += bytes;
    if (this.length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(2 * this.length);
      larger.set(this.buffer.subarray(0, start));
      this.buffer = larger;
    }
    return start;
  }
}

const NO_BYTES = Buffer.alloc(0);

/** What it returns are views of the bytes it reads. */
export class ByteSource {
  private readonly buffer: Buffer;
  private position = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  uint8(): number {
    return this.buffer.readUInt8(this.advance(1));
  }

  uint16(): number {
    return this.buffer.readUInt16LE(this.advance(2));
  }

  uint32(): number {
    return this.buffer.readUInt32LE(this.advance(4));
  }

  uint64(): bigint {
    const value = this.buffer.readBigUInt64LE(this.advance(8));
    // Most are zero: one zero for all is less to keep.
    return value === 0n ? 0n : value;
  }

  bytes(length: number): Buffer {
    const start = this.advance(length);
    return this.buffer.subarray(start, start + length);
  }

  lengthAndBytes(): Buffer {
    const length = this.uint32();
    return length === 0 ? NO_BYTES : this.bytes(length);
  }

  /** Throws RangeError at the end, as reading a number does. */
  private advance(bytes: number): number {
    const start = this.position;
    if (start + bytes > this.buffer.length) throw new RangeError('the record is too short');
    this.position += bytes;
    return start;
  }
}

/**
 * Serialises the input of hash functions: little-endian integers and length-prefixed byte strings.
 * A writer is reused, so that hashing allocates nothing but its result.
 */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  reset(): this {
    this.#length = 0;
    return this;
  }

  /** Returns a view of the bytes since `reset`, valid until the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  uint8(value: number): this {
    const at = this.#advance(1);
    this.#bytes[at] = value;
    return this;
  }

  uint16(value: number): this {
    const at = this.#advance(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  uint32(value: number): this {
    const at = this.#advance(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  uint64(value: bigint): this {
    const at = this.#advance(8);
    this.#view.setBigUint64(at, value, true);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#advance(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** Writes a count or length as 64 bits. */
  length(value: number): this {
    const at = this.#advance(8);
    this.#view.setUint32(at, value, true);
    this.#view.setUint32(at + 4, 0, true);
    return this;
  }

  lengthAndBytes(value: Uint8Array): this {
    return this.length(value.length).bytes(value);
  }

  #advance(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) this.#grow();
    return at;
  }

  #grow(): void {
    const grown = new Uint8Array(this.#length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

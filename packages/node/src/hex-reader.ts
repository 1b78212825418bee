/**
 * The node sends hashes, ids and scripts as hex text. This reader decodes them without creating
 * strings, into one buffer per response (the arena), and returns views of it.
 */
import { NodeProtocolError } from './errors.ts';
import { WireReader } from './wire-reader.ts';

const INVALID = 0x100;

/** The value of a hex digit by its character code, either case; INVALID for other characters. */
const digitValues = new Uint16Array(256).fill(INVALID);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  digitValues[digit.charCodeAt(0)] = value;
  digitValues[digit.toUpperCase().charCodeAt(0)] = value;
}

const EMPTY = new Uint8Array(0);

export class HexReader extends WireReader {
  readonly #arena: Uint8Array;
  #used = 0;

  constructor(bytes: Uint8Array, position = 0, end = bytes.length) {
    super(bytes, position, end);
    // Two characters become one byte, so the arena never overflows.
    this.#arena = new Uint8Array((end - position) >>> 1);
  }

  /** 32 bytes. */
  hash(): Uint8Array {
    const length = this.length();
    if (length !== 64) throw new NodeProtocolError(`a hash has ${length} hex digits instead of 64`);
    return this.#decode(length);
  }

  /** Bytes of any length. */
  hex(): Uint8Array {
    const length = this.length();
    if (length === 0) return EMPTY;
    if (length % 2 !== 0) throw new NodeProtocolError(`hex text has an odd number of digits, ${length}`);
    return this.#decode(length);
  }

  #decode(length: number): Uint8Array {
    const { bytes } = this;
    const arena = this.#arena;
    const start = this.#used;
    const end = start + length / 2;
    let position = this.position;
    let seen = 0;
    for (let index = start; index < end; index++) {
      const value =
        ((digitValues[bytes[position] as number] as number) << 4) |
        (digitValues[bytes[position + 1] as number] as number);
      seen |= value;
      arena[index] = value;
      position += 2;
    }
    if (seen >= INVALID) throw new NodeProtocolError('hex text contains a character that is not a hex digit');
    this.position = position;
    this.#used = end;
    return new Uint8Array(arena.buffer, start, end - start);
  }
}

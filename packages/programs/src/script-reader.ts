/**
 * Reads a script instruction by instruction, without copying and without objects, so that a pass
 * over any script is linear and cheap.
 */
import {
  OP_1_NEGATE,
  OP_DATA_75,
  OP_FALSE,
  OP_PUSH_DATA_1,
  OP_PUSH_DATA_2,
  OP_PUSH_DATA_4,
  OP_TRUE,
} from './opcodes.ts';

const NO_BYTES = new Uint8Array(0);
const MINUS_ONE = Uint8Array.of(0x81);
/** The values that `OpTrue` and `Op2` to `Op16` push. */
const SMALL_NUMBERS = Array.from({ length: 16 }, (_, index) => Uint8Array.of(index + 1));

export class ScriptReader {
  readonly script: Uint8Array;
  /** Where the current instruction begins. */
  offset = 0;
  opcode = 0;
  /** The range of the data that follows the opcode, which is empty for all but data pushes. */
  dataStart = 0;
  /** The end of the current instruction. */
  end: number;
  /**
   * Where the instruction begins whose data the script does not contain; undefined as long as
   * everything parses.
   */
  malformedAt: number | undefined;

  /** @param start where the first instruction begins */
  constructor(script: Uint8Array, start = 0) {
    this.script = script;
    this.end = start;
  }

  /**
   * Moves to the next instruction, and returns false at the end and where the script does not
   * parse.
   */
  next(): boolean {
    const { script, end } = this;
    const opcode = script[end];
    if (opcode === undefined || this.malformedAt !== undefined) return false;
    let dataStart = end + 1;
    let length = 0;
    if (opcode <= OP_DATA_75) length = opcode;
    else if (opcode <= OP_PUSH_DATA_4) {
      length = this.#dataLength(opcode, dataStart);
      dataStart += opcode === OP_PUSH_DATA_1 ? 1 : opcode === OP_PUSH_DATA_2 ? 2 : 4;
    }
    if (dataStart + length > script.length) {
      this.malformedAt = end;
      return false;
    }
    this.offset = end;
    this.opcode = opcode;
    this.dataStart = dataStart;
    this.end = dataStart + length;
    return true;
  }

  /**
   * Returns what the current instruction pushes, which is not to be written to; undefined if it is
   * no push.
   */
  pushed(): Uint8Array | undefined {
    const { opcode } = this;
    if (opcode === OP_FALSE) return NO_BYTES;
    if (opcode <= OP_PUSH_DATA_4) return this.script.subarray(this.dataStart, this.end);
    return opcode === OP_1_NEGATE ? MINUS_ONE : SMALL_NUMBERS[opcode - OP_TRUE];
  }

  #dataLength(opcode: number, at: number): number {
    const { script } = this;
    // Bytes beyond the end count as zero, and the instruction is malformed nevertheless, since its
    // data would begin there.
    const low = script[at] ?? 0;
    if (opcode === OP_PUSH_DATA_1) return low;
    const low16 = low + (script[at + 1] ?? 0) * 0x100;
    if (opcode === OP_PUSH_DATA_2) return low16;
    return low16 + (script[at + 2] ?? 0) * 0x1_00_00 + (script[at + 3] ?? 0) * 0x1_00_00_00;
  }
}

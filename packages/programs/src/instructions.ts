/**
 * The instructions of a script: one by one, as pages of a disassembly, and what a signature script
 * pushes.
 */
import { hexOf } from './hex.ts';
import { isPush, OP_16, OP_1_NEGATE, opcodeName } from './opcodes.ts';
import { ScriptReader } from './script-reader.ts';

export interface Instruction {
  /** The number of instructions before it. */
  index: number;
  /** Where it begins, in bytes. */
  offset: number;
  opcode: number;
  /** The node's name of the opcode. */
  name: string;
  /** The number of pushes before it, if it is one. */
  push: number | undefined;
  /**
   * The bytes after the opcode; empty for `OpFalse`, undefined if it is no data push. A view of the
   * script.
   */
  data: Uint8Array | undefined;
}

/**
 * A push of a program. Pushes are numbered from 0, and each number stands for the same value in
 * every program of a template.
 */
export interface Push {
  index: number;
  /** The range of the whole instruction. */
  start: number;
  end: number;
  opcode: number;
  /** The pushed value: `01` for `OpTrue`, `81` for `Op1Negate`, nothing for `OpFalse`. */
  value: Uint8Array;
}

/** Yields the instructions up to the end, or up to where the script does not parse. */
export function* instructions(script: Uint8Array): Generator<Instruction, void, undefined> {
  const reader = new ScriptReader(script);
  let pushes = 0;
  for (let index = 0; reader.next(); index++) {
    const { offset, opcode, dataStart, end } = reader;
    yield {
      index,
      offset,
      opcode,
      name: opcodeName(opcode),
      push: isPush(opcode) ? pushes++ : undefined,
      data: opcode < OP_1_NEGATE ? script.subarray(dataStart, end) : undefined,
    };
  }
}

export interface ScriptShape {
  instructionCount: number;
  pushCount: number;
  /** Where it stops parsing; undefined if all of it parses. */
  malformedAt: number | undefined;
  /**
   * Whether a signature script may consist of its opcodes. `OpReserved` counts as a push here, as
   * in the node.
   */
  isPushOnly: boolean;
  /**
   * The value that the last instruction pushes; undefined if it is no push, or if the script does
   * not parse.
   */
  lastPush: Uint8Array | undefined;
}

export function shapeOf(script: Uint8Array): ScriptShape {
  const reader = new ScriptReader(script);
  let instructionCount = 0;
  let pushCount = 0;
  let isPushOnly = true;
  while (reader.next()) {
    instructionCount++;
    if (isPush(reader.opcode)) pushCount++;
    else if (reader.opcode > OP_16) isPushOnly = false;
  }
  const { malformedAt } = reader;
  const isWhole = malformedAt === undefined;
  return {
    instructionCount,
    pushCount,
    malformedAt,
    isPushOnly: isPushOnly && isWhole,
    lastPush: isWhole && instructionCount > 0 ? reader.pushed() : undefined,
  };
}

export interface Page {
  /** The number of instructions to skip. */
  offset: number;
  limit: number;
}

export interface Disassembly {
  instructions: Instruction[];
  /** The offset of the next page; undefined after the last instruction. */
  nextOffset: number | undefined;
  /** Counts the instructions of the whole script. */
  instructionCount: number;
  malformedAt: number | undefined;
}

export function disassemble(script: Uint8Array, { offset, limit }: Page): Disassembly {
  const { instructionCount, malformedAt } = shapeOf(script);
  const page: Instruction[] = [];
  for (const instruction of instructions(script)) {
    if (page.length >= limit) break;
    if (instruction.index >= offset) page.push(instruction);
  }
  const end = offset + page.length;
  return {
    instructions: page,
    nextOffset: page.length > 0 && end < instructionCount ? end : undefined,
    instructionCount,
    malformedAt,
  };
}

/** Returns an instruction as the node prints it: its name, and its data in hex if it has any. */
export function formatInstruction({ name, data }: Pick<Instruction, 'name' | 'data'>): string {
  return data === undefined || data.length === 0 ? name : `${name} 0x${hexOf(data)}`;
}

/** Yields the pushes of a script up to its end, or up to where it does not parse. */
export function* pushesOf(script: Uint8Array): Generator<Push, void, undefined> {
  const reader = new ScriptReader(script);
  let index = 0;
  while (reader.next()) {
    const value = reader.pushed();
    if (value !== undefined)
      yield { index: index++, start: reader.offset, end: reader.end, opcode: reader.opcode, value };
  }
}

/**
 * Returns the numbers of the pushes whose values differ between two programs with the same opcodes
 * apart from pushes, such as two states of one contract; undefined if the other opcodes differ or a
 * program does not parse.
 */
export function changedPushes(before: Uint8Array, after: Uint8Array): number[] | undefined {
  const left = new ScriptReader(before);
  const right = new ScriptReader(after);
  const changed: number[] = [];
  let push = 0;
  for (;;) {
    const isInLeft = left.next();
    if (isInLeft !== right.next()) return undefined;
    if (!isInLeft) return left.malformedAt === undefined && right.malformedAt === undefined ? changed : undefined;
    if (isPush(left.opcode) && isPush(right.opcode)) {
      if (!areEqual(left.pushed() ?? before, right.pushed() ?? after)) changed.push(push);
      push++;
    } else if (left.opcode !== right.opcode) return undefined;
  }
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

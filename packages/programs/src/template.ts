/**
 * Templates. A program keeps its state in its own bytes, as pushes, so each state has another hash.
 * Programs that differ in pushed values only are builds of one template. A look-alike with other
 * constants has the same template, so a template is no verdict about a program.
 */
import { blake2b256, blake3, type Hash } from '@kasgres/kaspa';
import { isPush } from './opcodes.ts';
import { ScriptReader } from './script-reader.ts';
import { UseScanner } from './uses.ts';

/** The byte that stands for any push. */
const ANY_PUSH = 0;

export interface ProgramDescription {
  /** BLAKE2b-256 of the bytes, to which a P2SH script commits. */
  hash: Hash;
  length: number;
  /** A set of families of opcodes (`USES`). */
  uses: number;
  /** Undefined if the program does not parse. */
  template: Hash | undefined;
  pushCount: number;
}

/** Describes a program in one pass, and hashes it. */
export function describeProgram(program: Uint8Array): ProgramDescription {
  return { hash: blake2b256(program), length: program.length, ...scan(program) };
}

/**
 * Returns BLAKE2b-256 of the opcodes with a zero byte for each push; undefined if the program does
 * not parse.
 */
export function templateOf(program: Uint8Array): Hash | undefined {
  return scan(program).template;
}

function scan(program: Uint8Array): Pick<ProgramDescription, 'uses' | 'template' | 'pushCount'> {
  const reader = new ScriptReader(program);
  const scanner = new UseScanner();
  const skeleton = new Uint8Array(program.length);
  let instructionCount = 0;
  let pushCount = 0;
  while (reader.next()) {
    scanner.add(reader);
    if (isPush(reader.opcode)) {
      skeleton[instructionCount++] = ANY_PUSH;
      pushCount++;
    } else skeleton[instructionCount++] = reader.opcode;
  }
  const isWhole = reader.malformedAt === undefined;
  const template = isWhole ? blake2b256(skeleton.subarray(0, instructionCount)) : undefined;
  return { uses: scanner.uses, template, pushCount };
}

/** A range of the bytes of a program. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Returns KCC-1's hash of a template: BLAKE3 of the lengths and bytes before and after the state
 * (Kaspa covenant conventions, KCC-0001, section 8.3). Where the state is cannot be seen in the
 * bytes. Returns undefined if the range is not within the program.
 */
export function kccTemplateHash(program: Uint8Array, state: ByteRange): Hash | undefined {
  if (!(state.start >= 0 && state.start <= state.end && state.end <= program.length)) return undefined;
  const prefix = program.subarray(0, state.start);
  const suffix = program.subarray(state.end);
  return blake3(lengthBytes(prefix), prefix, lengthBytes(suffix), suffix);
}

/**
 * Returns where the pushes from number `first` to number `last` are, with all between them;
 * undefined if a program has fewer.
 */
export function rangeOfPushes(program: Uint8Array, first: number, last: number): ByteRange | undefined {
  const reader = new ScriptReader(program);
  let start: number | undefined;
  for (let index = 0; reader.next(); ) {
    if (!isPush(reader.opcode)) continue;
    if (index === first) start = reader.offset;
    if (index === last) return start === undefined ? undefined : { start, end: reader.end };
    index++;
  }
  return undefined;
}

function lengthBytes({ length }: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, length, true);
  return bytes;
}

/**
 * Finds the program that an input may reveal without the spent script, which would cost a query for
 * each payment.
 */
import { shapeOf } from './instructions.ts';
import { isPush } from './opcodes.ts';
import { readEnvelope } from './protocols/envelope.ts';
import { ScriptReader } from './script-reader.ts';

/** A signature with its type of hash, as the only push: what spends the script of a key. */
const SIGNATURE_SCRIPT_BYTES = 66;
const OP_DATA_65 = 0x41;
/** SIGHASH_ALL, NONE and SINGLE, also with ANYONE_CAN_PAY. */
export const SIG_HASH_TYPES: readonly number[] = [0x01, 0x02, 0x04, 0x81, 0x82, 0x84];
/** Opcodes other than pushes that may come first in a program that gets nothing on the stack. */
const NEEDS_NO_STACK: ReadonlySet<number> = new Set([
  0x61, 0x63, 0x64, 0x74, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb9, 0xc4,
]);
const BRANCHES: ReadonlySet<number> = new Set([0x63, 0x64]);
/** Opcodes that fail when they are executed. */
const FAILS: ReadonlySet<number> = new Set([0x50, 0x62, 0x65, 0x66, 0x6a, 0x89, 0x8a, 0xca]);
const LAST_OPCODE = 0xda;

/** By opcode, whether a program that gets nothing on the stack may begin with it. */
const MAY_BEGIN: readonly boolean[] = Array.from(
  { length: 256 },
  (_, opcode) => isPush(opcode) || NEEDS_NO_STACK.has(opcode),
);

/**
 * Returns the last push of a signature script, unless it can only be a signature. It is called for
 * every input of the chain.
 */
export function possibleProgram(signatureScript: Uint8Array): Uint8Array | undefined {
  if (signatureScript.length === SIGNATURE_SCRIPT_BYTES && signatureScript[0] === OP_DATA_65) {
    const mustRun = SIG_HASH_TYPES.includes(signatureScript[SIGNATURE_SCRIPT_BYTES - 1] as number);
    return mustRun && !canRunPushed(signatureScript) ? undefined : signatureScript.subarray(1);
  }
  const { isPushOnly, lastPush } = shapeOf(signatureScript);
  return isPushOnly ? lastPush : undefined;
}

/**
 * Whether a node might run the program that is the only push, which begins at byte 1, to its end.
 * Hardly any signature looks like it; an envelope needs a signature.
 */
function canRunPushed(signatureScript: Uint8Array): boolean {
  if (!MAY_BEGIN[signatureScript[1] as number]) return false;
  const reader = new ScriptReader(signatureScript, 1);
  let isExecuted = true;
  while (reader.next()) {
    const { opcode } = reader;
    if (isExecuted && (opcode > LAST_OPCODE || FAILS.has(opcode))) return false;
    if (BRANCHES.has(opcode)) isExecuted = false;
  }
  return reader.malformedAt === undefined && readEnvelope(signatureScript.subarray(1)) === undefined;
}

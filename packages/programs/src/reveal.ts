/**
 * Which program an input runs. A P2SH script (version 0) commits to the hash of a program, which
 * the spend reveals as the last push of its signature script. A bare script is a program by itself,
 * and is known from the creation of the output on.
 */
import { blake2b256, classifyScript, type ScriptPublicKey } from '@kasgres/kaspa';
import { possibleProgram } from './possible-program.ts';
import { usesOf } from './uses.ts';

/** The position of the hash in a P2SH script. */
const HASH_START = 2;
const HASH_END = 34;

export function isP2sh(script: ScriptPublicKey): boolean {
  return classifyScript(script) === 'scripthash';
}

/**
 * Returns the program that the spend of a P2SH output reveals, as a view of the signature script;
 * undefined if it is no such output or the program does not have its hash. Every accepted spend of
 * a P2SH output reveals one, which may be empty.
 */
export function revealedProgram(spent: ScriptPublicKey, signatureScript: Uint8Array): Uint8Array | undefined {
  const program = claimedProgram(spent, signatureScript);
  if (program === undefined) return undefined;
  const hash = spent.script.subarray(HASH_START, HASH_END);
  return Buffer.compare(blake2b256(program), hash) === 0 ? program : undefined;
}

/**
 * Like `revealedProgram`, but without the hash, which is most of the cost. Of an accepted
 * transaction both return the same, since a node has compared the hash.
 */
export function claimedProgram(spent: ScriptPublicKey, signatureScript: Uint8Array): Uint8Array | undefined {
  return isP2sh(spent) ? possibleProgram(signatureScript) : undefined;
}

/**
 * Returns the script of an output if it is a program by itself: one of version 0, since nodes run
 * no other, that uses one of the families of opcodes.
 */
export function bareProgram({ version, script }: ScriptPublicKey): Uint8Array | undefined {
  return version === 0 && usesOf(script) !== 0 ? script : undefined;
}

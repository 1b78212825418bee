/**
 * Families of opcodes beyond signatures, hashes and arithmetic. The set of those that a program
 * uses is the bits of a number.
 */
import { OP_ZK_PRECOMPILE } from './opcodes.ts';
import { ScriptReader } from './script-reader.ts';

/** Families by name. The bits are stored, so they never change. */
export const USES = {
  /** `OpTxVersion` to `OpTxInputScriptSigLen` (KIP-10, KIP-17). */
  introspection: 1,
  /** The opcodes about covenant ids and authorised outputs (KIP-17, KIP-20). */
  covenants: 2,
  /** `OpChainblockSeqCommit` (KIP-21). */
  sequencing: 4,
  /** `OpZkPrecompile` (KIP-16) right after a push of the tag of Groth16. */
  groth16: 8,
  /** `OpZkPrecompile` right after a push of the tag of succinct receipts of RISC Zero. */
  risc0: 16,
  /**
   * `OpZkPrecompile` after anything else: the tag is computed, chosen by the spender, or unknown.
   */
  unknownZk: 32,
} as const;

export type Use = keyof typeof USES;

const GROTH16_TAG = 0x20;
const RISC0_TAG = 0x21;

/** The families of opcodes that need no context, by opcode. */
const FAMILIES = Uint8Array.from({ length: 256 }, (_, opcode) => {
  if (opcode >= 0xb2 && opcode <= 0xc9) return USES.introspection;
  if (opcode === 0xd4) return USES.sequencing;
  const isCovenant =
    opcode === 0xcb || opcode === 0xcc || (opcode >= 0xcf && opcode <= 0xd3) || opcode === 0xd5 || opcode === 0xd6;
  return isCovenant ? USES.covenants : 0;
});

/**
 * Returns the set of families that a program uses up to its end, or up to where it does not parse.
 */
export function usesOf(program: Uint8Array): number {
  const reader = new ScriptReader(program);
  const scanner = new UseScanner();
  while (reader.next()) scanner.add(reader);
  return scanner.uses;
}

/** Returns the names of the families in a set. */
export function namesOfUses(uses: number): Use[] {
  return (Object.keys(USES) as Use[]).filter((name) => (uses & USES[name]) !== 0);
}

/** Collects families while another pass reads the script. */
export class UseScanner {
  uses = 0;
  /** The byte that the previous instruction pushed; -1 if it did not push one byte. */
  #pushedByte = -1;

  add({ script, opcode, dataStart, end }: ScriptReader): void {
    if (opcode === OP_ZK_PRECOMPILE) this.uses |= zkSystem(this.#pushedByte);
    else this.uses |= FAMILIES[opcode] ?? 0;
    // No tag is a number that an opcode without data pushes.
    this.#pushedByte = end - dataStart === 1 ? (script[dataStart] ?? -1) : -1;
  }
}

function zkSystem(tag: number): number {
  if (tag === GROTH16_TAG) return USES.groth16;
  return tag === RISC0_TAG ? USES.risc0 : USES.unknownZk;
}

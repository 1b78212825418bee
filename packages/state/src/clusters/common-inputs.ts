/**
 * The common-input heuristic: fully signed inputs of a transaction have one owner, unless several
 * people built it together (docs/clustering.md). Signature hash types: rusty-kaspa,
 * consensus/core/src/hashing/sighash_type.rs.
 */
import { SIG_HASH_TYPES } from '@kasgres/programs';

export type ScriptType = 'pubkey' | 'pubkeyecdsa' | 'scripthash' | 'nonstandard';

export interface SpentInput {
  script: bigint;
  type: ScriptType;
  /** Those of the accepted variant; of all variants while the accepted one is unknown. */
  signatureScripts: readonly Uint8Array[];
  /** Whether the UTXO carries a covenant; null if its output is unknown. */
  hasCovenant: boolean | null;
}

export interface Spending {
  inputs: readonly SpentInput[];
  /** The largest number of outputs of one amount to different scripts. */
  equalOutputs: number;
}

const SIGNATURE_PUSH = 65;
const SIG_HASH_ALL = 0x01;
/**
 * NONE, SINGLE, and the three with anyone-can-pay: the signature leaves inputs or outputs to
 * others.
 */
const PARTIAL_SIG_HASHES: ReadonlySet<number> = new Set(SIG_HASH_TYPES.filter((type) => type !== SIG_HASH_ALL));
/** Fewer participants gain no anonymity. */
const LEAST_PARTICIPANTS = 3;

/**
 * Returns the scripts of one owner, in the order of the inputs, each once. Fewer than two mean that
 * nothing follows.
 */
export function scriptsOfOneOwner(spending: Spending): bigint[] {
  const scripts = new Set<bigint>();
  for (const { script, type, signatureScripts, hasCovenant } of spending.inputs) {
    if (hasCovenant !== false || signatureScripts.some(hasPartialSignature)) return [];
    const isOfOneKey = type === 'pubkey' || type === 'pubkeyecdsa';
    if (isOfOneKey && signatureScripts.every(isFullSignature)) scripts.add(script);
  }
  return isCollaborative(spending) ? [] : [...scripts];
}

/**
 * Returns whether the transaction looks like a CoinJoin: several of its outputs have the same
 * amount, and there are enough input scripts for each participant to have one or two of these.
 */
function isCollaborative({ inputs, equalOutputs }: Spending): boolean {
  const payers = new Set(inputs.map(({ script }) => script)).size;
  return equalOutputs >= LEAST_PARTICIPANTS && payers >= LEAST_PARTICIPANTS && 2 * payers >= equalOutputs;
}

function isFullSignature(script: Uint8Array): boolean {
  return (
    script.length === 1 + SIGNATURE_PUSH && script[0] === SIGNATURE_PUSH && script[SIGNATURE_PUSH] === SIG_HASH_ALL
  );
}

function hasPartialSignature(script: Uint8Array): boolean {
  for (const data of pushesOf(script)) {
    if (data.length === SIGNATURE_PUSH && PARTIAL_SIG_HASHES.has(data[SIGNATURE_PUSH - 1] ?? 0)) return true;
  }
  return false;
}

const OP_PUSH_DATA_1 = 0x4c;
const OP_PUSH_DATA_4 = 0x4e;

/**
 * Yields the data that a signature script pushes. A script that ends within a push was never
 * accepted; its last push is left out.
 */
function* pushesOf(script: Uint8Array): Generator<Uint8Array> {
  const bytes = Buffer.from(script.buffer, script.byteOffset, script.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const opcode = bytes.readUInt8(at);
    at += 1;
    let size = opcode < OP_PUSH_DATA_1 ? opcode : 0;
    if (opcode >= OP_PUSH_DATA_1 && opcode <= OP_PUSH_DATA_4) {
      const width = 2 ** (opcode - OP_PUSH_DATA_1);
      if (at + width > bytes.length) return;
      size = bytes.readUIntLE(at, width);
      at += width;
    }
    if (at + size > bytes.length) return;
    if (size > 0) yield bytes.subarray(at, at + size);
    at += size;
  }
}

/**
 * Signatures of the right form without private keys. A signature of zeros is broken, and every
 * other script is valid.
 */
import { createHash } from 'node:crypto';
import { classifyScript, type Hash, type Transaction } from '@kasgres/kaspa';
import { lastPush, p2shOf, push } from './scripts.ts';
import { scriptKey, type UtxoEntry } from './utxo.ts';

const SIGNATURE_BYTES = 64;
const SIGNATURE_END = 1 + SIGNATURE_BYTES;
const OP_DATA_65 = 0x41;
/** An opcode that makes a program of any script. */
const OP_TX_INPUT_INDEX = 0xb9;
export const SIGHASH_ALL = 0x01;
/** Signs one output and its own input; anyone may add others. */
export const SIGHASH_SINGLE_ANYONE_CAN_PAY = 0x84;
const BROKEN_SIGNATURE = Buffer.alloc(SIGNATURE_BYTES);

/**
 * @param pushes what follows the signature: for a UTXO that was paid to a script hash, arguments
 * and the program
 */
export function signatureScript(
  id: Hash,
  inputIndex: number,
  pushes: readonly Uint8Array[],
  hashType = SIGHASH_ALL,
): Uint8Array {
  const signature = createHash('sha512').update(id).update(String(inputIndex)).digest();
  return Buffer.concat([Uint8Array.of(OP_DATA_65), signature, Uint8Array.of(hashType), ...pushes.map(push)]);
}

/**
 * Returns another variant of the transaction, with valid or broken signatures. A broken one also
 * reveals other programs than those that were paid.
 */
export function withOtherSignatures(transaction: Transaction, { broken }: { broken: boolean }): Transaction {
  const inputs = transaction.inputs.map((input) => {
    const script = Buffer.from(input.signatureScript);
    if (!startsWithSignature(script)) return input;
    const other = broken ? BROKEN_SIGNATURE : createHash('sha512').update(script).digest();
    other.copy(script, 1);
    const isFollowed = script.length > SIGNATURE_END + 1;
    if (broken && isFollowed) script[script.length - 1] = OP_TX_INPUT_INDEX;
    return { ...input, signatureScript: script };
  });
  return { ...transaction, inputs };
}

/**
 * Returns whether the scripts of a transaction are valid, as far as this can be said without
 * running them.
 */
export function hasValidScripts(transaction: Pick<Transaction, 'inputs'>, spent: readonly UtxoEntry[]): boolean {
  return hasValidSignatures(transaction) && revealsPrograms(transaction, spent);
}

/**
 * Returns whether each input that spends a P2SH output reveals the program to which the output
 * commits.
 */
function revealsPrograms({ inputs }: Pick<Transaction, 'inputs'>, spent: readonly UtxoEntry[]): boolean {
  return spent.every(({ scriptPublicKey }, index) => {
    if (classifyScript(scriptPublicKey) !== 'scripthash') return true;
    const program = lastPush(inputs[index]?.signatureScript ?? new Uint8Array(0));
    return program !== undefined && scriptKey(p2shOf(program)) === scriptKey(scriptPublicKey);
  });
}

export function hasValidSignatures({ inputs }: Pick<Transaction, 'inputs'>): boolean {
  return !inputs.some(({ signatureScript }) => isBroken(signatureScript));
}

function isBroken(script: Uint8Array): boolean {
  return startsWithSignature(script) && Buffer.compare(script.subarray(1, SIGNATURE_END), BROKEN_SIGNATURE) === 0;
}

function startsWithSignature(script: Uint8Array): boolean {
  return script[0] === OP_DATA_65 && script.length > SIGNATURE_END;
}

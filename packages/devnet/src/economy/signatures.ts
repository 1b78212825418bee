/** Signatures of the right form without private keys. A signature of zeros is broken, and every other script is valid. */
import { createHash } from 'node:crypto';
import type { Hash, Transaction } from '@kasgres/kaspa';

const SIGNATURE_BYTES = 64;
const SIGNATURE_END = 1 + SIGNATURE_BYTES;
const OP_DATA_65 = 0x41;
const OP_DATA_34 = 0x22;
export const SIGHASH_ALL = 0x01;
/** Signs one output and its own input; anyone may add others. */
export const SIGHASH_SINGLE_ANYONE_CAN_PAY = 0x84;
const BROKEN_SIGNATURE = Buffer.alloc(SIGNATURE_BYTES);

/** @param redeemScript of a UTXO that was paid to a script hash */
export function signatureScript(
  id: Hash,
  inputIndex: number,
  redeemScript: Uint8Array | undefined,
  hashType = SIGHASH_ALL,
): Uint8Array {
  const signature = createHash('sha512').update(id).update(String(inputIndex)).digest();
  const redeem = redeemScript === undefined ? [] : [Uint8Array.of(OP_DATA_34), redeemScript];
  return Buffer.concat([Uint8Array.of(OP_DATA_65), signature, Uint8Array.of(hashType), ...redeem]);
}

/** Returns another variant of the transaction, with valid or broken signatures. */
export function withOtherSignatures(transaction: Transaction, { broken }: { broken: boolean }): Transaction {
  const inputs = transaction.inputs.map((input) => {
    const script = Buffer.from(input.signatureScript);
    if (!startsWithSignature(script)) return input;
    const other = broken ? BROKEN_SIGNATURE : createHash('sha512').update(script).digest();
    other.copy(script, 1);
    return { ...input, signatureScript: script };
  });
  return { ...transaction, inputs };
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

/**
 * Estimates how long transactions are in the JSON of the API (`RestTransaction`), so that pages of
 * large ones have fewer.
 */
import type { Transaction } from '@kasgres/kaspa';

/** Names, hashes, numbers and addresses of usual length. */
const TRANSACTION_BYTES = 650;
const INPUT_BYTES = 490;
const OUTPUT_BYTES = 340;
const HEX_DIGITS_PER_BYTE = 2;
const MAX_INTEGER = 2 ** 31 - 1;

/**
 * Leaves out what readers add: the payload, which listings have on request, and long scripts of the
 * UTXOs that are spent. Allocates nothing.
 */
export function jsonBytes({ inputs, outputs }: Pick<Transaction, 'inputs' | 'outputs'>): number {
  let bytes = TRANSACTION_BYTES + inputs.length * INPUT_BYTES + outputs.length * OUTPUT_BYTES;
  for (const { signatureScript } of inputs) bytes += signatureScript.length * HEX_DIGITS_PER_BYTE;
  for (const { scriptPublicKey } of outputs) bytes += scriptPublicKey.script.length * HEX_DIGITS_PER_BYTE;
  return Math.min(bytes, MAX_INTEGER);
}

/**
 * The id and the hash of a transaction (rusty-kaspa, consensus/core/src/hashing/tx.rs). The id
 * leaves out what a signer or miner may change (signature scripts, sig-op counts, compute budgets,
 * storage mass), so several variants share it. The hash covers every field and is the leaf of a
 * block's merkle root.
 */
import { ByteWriter } from './byte-writer.ts';
import {
  hashTransaction,
  hashTransactionId,
  hashTransactionIdV1,
  hashTransactionPayload,
  hashTransactionRest,
} from './keyed-hash.ts';
import type { Hash, Transaction, TransactionInput, TransactionOutput } from './model.ts';

export const SUBNETWORK_ID_BYTES = 20;
export const NATIVE_SUBNETWORK: Uint8Array = new Uint8Array(SUBNETWORK_ID_BYTES);
/** The subnetwork of the first transaction of each block, which pays the miners. */
export const COINBASE_SUBNETWORK: Uint8Array = new Uint8Array(SUBNETWORK_ID_BYTES).fill(1, 0, 1);

const NO_BYTES = new Uint8Array(0);
const writer = new ByteWriter();

/**
 * Which optional fields are serialised. Signatures stand for signature scripts, sig-op counts,
 * compute budgets and the storage mass.
 */
type Fields = Record<'signatures' | 'payload', boolean>;

/** Returns the 32 bytes by which inputs refer to a transaction. */
export function transactionId(transaction: Transaction): Hash {
  if (transaction.version === 0) return hashTransactionId(serialize(transaction, { signatures: false, payload: true }));
  const payloadDigest = hashTransactionPayload(transaction.payload);
  const restDigest = hashTransactionRest(serialize(transaction, { signatures: false, payload: false }));
  return hashTransactionIdV1(writer.reset().bytes(payloadDigest).bytes(restDigest).written());
}

/** Returns the 32 bytes that commit to every field of a transaction. */
export function transactionHash(transaction: Transaction): Hash {
  return hashTransaction(serialize(transaction, { signatures: true, payload: true }));
}

/**
 * Returns the leaf of a transaction in the merkle root of a block before Crescendo, which did not
 * cover the storage mass. Nodes report a storage mass and a transaction hash that covers it even
 * for these transactions.
 */
export function transactionHashBeforeCrescendo(transaction: Transaction): Hash {
  return transactionHash({ ...transaction, storageMass: 0n });
}

export function isCoinbase(transaction: Pick<Transaction, 'subnetworkId'>): boolean {
  return Buffer.compare(transaction.subnetworkId, COINBASE_SUBNETWORK) === 0;
}

/** Returns a view that is valid until the next serialisation. */
function serialize(transaction: Transaction, fields: Fields): Uint8Array {
  const { version, inputs, outputs, payload, storageMass } = transaction;
  writer.reset().uint16(version);
  writer.length(inputs.length);
  for (const input of inputs) writeInput(input, version, fields);
  writer.length(outputs.length);
  for (const output of outputs) writeOutput(output, version);
  writer.uint64(transaction.lockTime).bytes(transaction.subnetworkId).uint64(transaction.gas);
  writer.lengthAndBytes(fields.payload ? payload : NO_BYTES);
  // Version 0 omits a mass of zero, which preserves the hashes of transactions older than the
  // field.
  if (fields.signatures && (version > 0 || storageMass > 0n)) writer.uint64(storageMass);
  return writer.written();
}

function writeInput(input: TransactionInput, version: number, fields: Fields): void {
  writer.bytes(input.previousOutpoint.transactionId).uint32(input.previousOutpoint.index);
  if (!fields.signatures) {
    writer.length(0).uint64(input.sequence);
  } else if (version === 0) {
    writer.lengthAndBytes(input.signatureScript).uint8(input.sigOpCount).uint64(input.sequence);
  } else {
    writer.lengthAndBytes(input.signatureScript).uint64(input.sequence).uint16(input.computeBudget);
  }
}

function writeOutput({ amount, scriptPublicKey, covenant }: TransactionOutput, version: number): void {
  writer.uint64(amount).uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script);
  if (version === 0) return;
  writer.uint8(covenant === undefined ? 0 : 1);
  if (covenant !== undefined) writer.uint16(covenant.authorizingInput).bytes(covenant.covenantId);
}

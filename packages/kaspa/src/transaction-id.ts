/**
 * The two names of a transaction. Its *id* leaves out what a signer or miner may change (signature scripts, sig-op counts, compute
 * budgets, storage mass), so several bodies can share it; its *hash* covers every field and is the leaf of a block's merkle root.
 * Follows rusty-kaspa, consensus/core/src/hashing/tx.rs.
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
/** Payments. */
export const NATIVE_SUBNETWORK: Uint8Array = new Uint8Array(SUBNETWORK_ID_BYTES);
/** The first transaction of each block, which pays the miners. */
export const COINBASE_SUBNETWORK: Uint8Array = new Uint8Array(SUBNETWORK_ID_BYTES).fill(1, 0, 1);

const NO_BYTES = new Uint8Array(0);
const writer = new ByteWriter();

/** What a serialisation contains, besides what all of them do. */
interface Parts {
  /** Signature scripts, what they may cost, and the storage mass. */
  signatures: boolean;
  payload: boolean;
}

const EVERYTHING: Parts = { signatures: true, payload: true };
const WITHOUT_SIGNATURES: Parts = { signatures: false, payload: true };
const WITHOUT_SIGNATURES_AND_PAYLOAD: Parts = { signatures: false, payload: false };

/** The 32 bytes by which inputs refer to a transaction. */
export function transactionId(transaction: Transaction): Hash {
  if (transaction.version === 0) return hashTransactionId(serialize(transaction, WITHOUT_SIGNATURES));
  const payloadDigest = hashTransactionPayload(transaction.payload);
  const restDigest = hashTransactionRest(serialize(transaction, WITHOUT_SIGNATURES_AND_PAYLOAD));
  return hashTransactionIdV1(writer.reset().bytes(payloadDigest).bytes(restDigest).written());
}

/** The 32 bytes that commit to every field of a transaction, signatures included. */
export function transactionHash(transaction: Transaction): Hash {
  return hashTransaction(serialize(transaction, EVERYTHING));
}

/**
 * The leaf that a transaction was in the merkle root of a block from before Crescendo: the storage mass was no part of it, so no block
 * committed to one. Nodes have some all the same, and hash it into what they call the transaction's hash.
 */
export function transactionHashBeforeCrescendo(transaction: Transaction): Hash {
  return transactionHash({ ...transaction, storageMass: 0n });
}

export function isCoinbase(transaction: Pick<Transaction, 'subnetworkId'>): boolean {
  const id = transaction.subnetworkId;
  return id.length === SUBNETWORK_ID_BYTES && id.every((byte, index) => byte === COINBASE_SUBNETWORK[index]);
}

/** A view that is valid until the next serialisation. */
function serialize(transaction: Transaction, parts: Parts): Uint8Array {
  const { version, inputs, outputs, payload, storageMass } = transaction;
  writer.reset().uint16(version);
  writer.length(inputs.length);
  for (const input of inputs) writeInput(input, version, parts);
  writer.length(outputs.length);
  for (const output of outputs) writeOutput(output, version);
  writer.uint64(transaction.lockTime).bytes(transaction.subnetworkId).uint64(transaction.gas);
  writer.lengthAndBytes(parts.payload ? payload : NO_BYTES);
  // Version 0 leaves a mass of zero out, which keeps the hashes of transactions older than the field.
  if (parts.signatures && (version > 0 || storageMass > 0n)) writer.uint64(storageMass);
  return writer.written();
}

function writeInput(input: TransactionInput, version: number, parts: Parts): void {
  writer.bytes(input.previousOutpoint.transactionId).uint32(input.previousOutpoint.index);
  if (!parts.signatures) {
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

/**
 * Signed transactions: the economy's drafts with valid signatures (rusty-kaspa,
 * consensus/core/src/hashing/sighash.rs, type "all").
 */
import {
  buildTransaction,
  createdEntries,
  type DagTransaction,
  type Draft,
  MassBudget,
  type UtxoEntry,
  withDerived,
} from '@kasgres/devnet';
import {
  type Hash,
  NATIVE_SUBNETWORK,
  toHex,
  type Transaction,
  type TransactionOutput,
  ZERO_HASH,
} from '@kasgres/kaspa';
import { blake2b } from '@noble/hashes/blake2.js';
import { ByteWriter } from '../../../packages/kaspa/src/byte-writer.ts';
import type { LoadKeys } from './keys.ts';

export interface Payment {
  /** Signing it again gives another variant: the same id with other signatures. */
  draft: Draft;
  transaction: DagTransaction;
}

export interface SignOptions {
  /**
   * The budget of each input of a version 1 transaction. The id leaves it out. The default is that
   * of the economy.
   */
  computeBudget?: number;
  /** Breaks the first signature: the transaction keeps its id and is invalid. */
  isBroken?: boolean;
}

const SIGN_ALL = 1;

export function sign(keys: LoadKeys, draft: Draft, { computeBudget, isBroken = false }: SignOptions = {}): Payment {
  const spent = draft.utxos.map(({ entry }) => entry);
  const version = spent.some(({ covenantId }) => covenantId !== undefined) ? 1 : draft.version;
  const built = buildTransaction({ ...draft, version });
  const unsigned = {
    ...built,
    inputs: built.inputs.map((input, index) => ({
      ...input,
      sigOpCount: version === 0 ? keys.ownerOf(at(spent, index)).sigOps : 0,
      computeBudget: version === 0 ? 0 : (computeBudget ?? input.computeBudget),
    })),
  };
  const hashes = signingHashes(unsigned, spent);
  const inputs = unsigned.inputs.map((input, index) => {
    const signatureScript = keys.ownerOf(at(spent, index)).sign(at(hashes, index));
    // The first byte pushes, and the next 64 are the signature.
    if (isBroken && index === 0) signatureScript[10] = at(signatureScript, 10) ^ 1;
    return { ...input, signatureScript };
  });
  return { draft, transaction: withDerived({ ...unsigned, inputs }) };
}

/** Returns the UTXOs that the acceptance of a payment creates. */
export function outputsOf({ transaction }: Payment): UtxoEntry[] {
  return createdEntries(transaction, 0, false);
}

export function idOf({ transaction }: Payment): string {
  return toHex(transaction.transactionId);
}

/** Returns the payments that fit into one block together. */
export function fitting(payments: readonly Payment[]): Payment[] {
  const budget = new MassBudget();
  return payments.filter(({ transaction }) => budget.take(transaction));
}

/**
 * Returns what each input signs: the whole transaction except the signature scripts, and the UTXO
 * that the input spends.
 */
function signingHashes(transaction: Transaction, spent: readonly UtxoEntry[]): Hash[] {
  const { version, inputs, outputs, payload, subnetworkId } = transaction;
  const outpoints = signingHash((writer) => {
    for (const { previousOutpoint: previous } of inputs) writer.bytes(previous.transactionId).uint32(previous.index);
  });
  const sequences = signingHash((writer) => {
    for (const { sequence } of inputs) writer.uint64(sequence);
  });
  const sigOpCounts = signingHash((writer) => {
    for (const { sigOpCount } of inputs) writer.uint8(sigOpCount);
  });
  const paid = signingHash((writer) => {
    for (const output of outputs) writeOutput(writer, output, version);
  });
  const isPlain = payload.length === 0 && Buffer.compare(subnetworkId, NATIVE_SUBNETWORK) === 0;
  const payloadHash = isPlain ? ZERO_HASH : signingHash((writer) => writer.lengthAndBytes(payload));
  return inputs.map(({ previousOutpoint, sequence, sigOpCount }, index) => {
    const { amount, scriptPublicKey } = at(spent, index);
    return signingHash((writer) => {
      writer.uint16(version).bytes(outpoints).bytes(sequences);
      if (version === 0) writer.bytes(sigOpCounts);
      writer.bytes(previousOutpoint.transactionId).uint32(previousOutpoint.index);
      writer.uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script).uint64(amount).uint64(sequence);
      if (version === 0) writer.uint8(sigOpCount);
      writer.bytes(paid).uint64(transaction.lockTime).bytes(subnetworkId).uint64(transaction.gas);
      writer.bytes(payloadHash).uint8(SIGN_ALL);
    });
  });
}

function writeOutput(
  writer: ByteWriter,
  { amount, scriptPublicKey, covenant }: TransactionOutput,
  version: number,
): void {
  writer.uint64(amount).uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script);
  if (version === 0) return;
  writer.uint8(covenant === undefined ? 0 : 1);
  if (covenant !== undefined) writer.uint16(covenant.authorizingInput).bytes(covenant.covenantId);
}

function signingHash(write: (writer: ByteWriter) => void): Hash {
  return hash('TransactionSigningHash', write);
}

const writer = new ByteWriter();

function hash(domain: string, write: (writer: ByteWriter) => void): Hash {
  write(writer.reset());
  return blake2b(writer.written(), { key: Buffer.from(domain), dkLen: 32 });
}

function at<T>(items: ArrayLike<T>, index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

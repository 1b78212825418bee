/**
 * The hash that the signature of an input signs. It commits to the whole transaction except the signature scripts, and to the UTXO that the
 * input spends (rusty-kaspa, consensus/core/src/hashing/sighash.rs, signature type "all").
 */
import { blake2b } from '@noble/hashes/blake2.js';
import { NATIVE_SUBNETWORK, type Hash, type Transaction, type TransactionOutput } from '@kasgres/kaspa';
import type { Utxo } from './payment.ts';

const ZERO_HASH = Buffer.alloc(32);
const SIGN_ALL = 1;
const KEY = Buffer.from('TransactionSigningHash');

/** Returns the signing hash of each input; `utxos` are those that the inputs spend, in their order. */
export function signingHashes(transaction: Transaction, utxos: readonly Utxo[]): Hash[] {
  const { version, inputs, outputs, payload } = transaction;
  const native = Buffer.compare(transaction.subnetworkId, NATIVE_SUBNETWORK) === 0;
  const before = Buffer.concat([
    uint16(version),
    hash(...inputs.flatMap(({ previousOutpoint: { transactionId, index } }) => [transactionId, uint32(index)])),
    hash(...inputs.map(({ sequence }) => uint64(sequence))),
    ...(version === 0 ? [hash(Uint8Array.from(inputs, ({ sigOpCount }) => sigOpCount))] : []),
  ]);
  const after = Buffer.concat([
    hash(...outputs.map((output) => outputBytes(output, version))),
    uint64(transaction.lockTime),
    transaction.subnetworkId,
    uint64(transaction.gas),
    native && payload.length === 0 ? ZERO_HASH : hash(uint64(BigInt(payload.length)), payload),
    Uint8Array.of(SIGN_ALL),
  ]);
  return inputs.map((input, index) => {
    const utxo = utxos[index];
    if (utxo === undefined) throw new Error(`input ${index} has no UTXO`);
    const { amount, scriptPublicKey } = utxo.output;
    const { script } = scriptPublicKey;
    return hash(
      before,
      input.previousOutpoint.transactionId,
      uint32(input.previousOutpoint.index),
      uint16(scriptPublicKey.version),
      uint64(BigInt(script.length)),
      script,
      uint64(amount),
      uint64(input.sequence),
      version === 0 ? Uint8Array.of(input.sigOpCount) : new Uint8Array(0),
      after,
    );
  });
}

function outputBytes({ amount, scriptPublicKey, covenant }: TransactionOutput, version: number): Buffer {
  const { script } = scriptPublicKey;
  const plain = [uint64(amount), uint16(scriptPublicKey.version), uint64(BigInt(script.length)), script];
  if (version === 0) return Buffer.concat(plain);
  if (covenant === undefined) return Buffer.concat([...plain, Uint8Array.of(0)]);
  return Buffer.concat([...plain, Uint8Array.of(1), uint16(covenant.authorizingInput), covenant.covenantId]);
}

function hash(...parts: Uint8Array[]): Hash {
  return blake2b(Buffer.concat(parts), { key: KEY, dkLen: 32 });
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

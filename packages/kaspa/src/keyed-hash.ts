/**
 * Kaspa's hash functions, keyed by domain (rusty-kaspa, crypto/hashes). They run in WebAssembly,
 * compiled when this module loads; docs/adr/0002-hashing.md has the reasons.
 */
import { createBLAKE2b, createBLAKE3, type IHasher } from 'hash-wasm';
import type { Hash } from './model.ts';

/** Returns a new array of 32 bytes. */
export type HashFunction = (data: Uint8Array) => Hash;

const BITS = 256;
const BLAKE3_KEY_BYTES = 32;

async function keyedBlake2b(domain: string): Promise<HashFunction> {
  return toFunction(await createBLAKE2b(BITS, Buffer.from(domain)));
}

/** BLAKE3 requires keys of 32 bytes: the domain is padded with zeros. */
async function keyedBlake3(domain: string): Promise<HashFunction> {
  const key = new Uint8Array(BLAKE3_KEY_BYTES);
  key.set(Buffer.from(domain));
  return toFunction(await createBLAKE3(BITS, key));
}

function toFunction(hasher: IHasher): HashFunction {
  return (data) => hasher.init().update(data).digest('binary');
}

/**
 * BLAKE2b-256 without a key, as `OpBlake2b` computes it: the hash that a P2SH script commits to.
 */
export const blake2b256: HashFunction = toFunction(await createBLAKE2b(BITS));

const unkeyedBlake3 = await createBLAKE3(BITS);

/** Returns the BLAKE3 hash, without a key, of the concatenated parts. */
export function blake3(...parts: readonly Uint8Array[]): Hash {
  unkeyedBlake3.init();
  for (const part of parts) unkeyedBlake3.update(part);
  return unkeyedBlake3.digest('binary');
}

export const hashTransaction = await keyedBlake2b('TransactionHash');
export const hashTransactionId = await keyedBlake2b('TransactionID');
export const hashBlock = await keyedBlake2b('BlockHash');
export const hashMerkleBranch = await keyedBlake2b('MerkleBranchHash');
export const hashMuHashElement = await keyedBlake2b('MuHashElement');
export const hashMuHashFinalize = await keyedBlake2b('MuHashFinalize');
export const hashCovenantId = await keyedBlake2b('CovenantID');

export const hashTransactionPayload = await keyedBlake3('PayloadDigest');
export const hashTransactionRest = await keyedBlake3('TransactionRest');
export const hashTransactionIdV1 = await keyedBlake3('TransactionV1Id');

/**
 * The hash that names a block, and the merkle root by which its header commits to its transactions
 * (rusty-kaspa, consensus/core/src/hashing/header.rs and crypto/merkle).
 */
import { ByteWriter } from './byte-writer.ts';
import { hashBlock, hashMerkleBranch } from './keyed-hash.ts';
import type { Hash, Header } from './model.ts';

export const HASH_BYTES = 32;
/** The placeholder for a missing hash: genesis' pruning point, the right half of an odd pair. */
export const ZERO_HASH: Hash = new Uint8Array(HASH_BYTES);

const writer = new ByteWriter();

export function headerHash(header: Header): Hash {
  writer.reset().uint16(header.version).length(header.parentsByLevel.length);
  for (const parents of header.parentsByLevel) {
    writer.length(parents.length);
    for (const parent of parents) writer.bytes(parent);
  }
  writer
    .bytes(header.hashMerkleRoot)
    .bytes(header.acceptedIdMerkleRoot)
    .bytes(header.utxoCommitment)
    .uint64(header.timestamp)
    .uint32(header.bits)
    .uint64(header.nonce)
    .uint64(header.daaScore)
    .uint64(header.blueScore);
  writeBlueWork(header.blueWork);
  writer.bytes(header.pruningPoint);
  return hashBlock(writer.written());
}

/** Writes the only big-endian number: without leading zero bytes, so none for zero. */
function writeBlueWork(blueWork: bigint): void {
  const digits = blueWork === 0n ? '' : blueWork.toString(16);
  writer.lengthAndBytes(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'));
}

/**
 * Returns the root of a binary tree over the given hashes; for `hashMerkleRoot` these are the
 * block's transaction hashes. An odd hash is paired with zeros; one hash is its own root; the root
 * of none is zeros.
 */
export function merkleRoot(hashes: readonly Hash[]): Hash {
  let level = hashes;
  while (level.length > 1) {
    const above: Hash[] = [];
    for (let left = 0; left < level.length; left += 2) {
      writer.reset().bytes(level[left] ?? ZERO_HASH);
      writer.bytes(level[left + 1] ?? ZERO_HASH);
      above.push(hashMerkleBranch(writer.written()));
    }
    level = above;
  }
  return level[0] ?? ZERO_HASH;
}

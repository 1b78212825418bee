/** Decodes block headers by hand. Field numbers are those of protocol/kaspad.proto. */
import type { Hash, Header } from '@kasgres/kaspa';
import { NodeProtocolError } from './errors.ts';
import type { HexReader } from './hex-reader.ts';
import { bytesTag, varintTag } from './wire-reader.ts';

const VERSION = varintTag(1);
const HASH_MERKLE_ROOT = bytesTag(3);
const ACCEPTED_ID_MERKLE_ROOT = bytesTag(4);
const UTXO_COMMITMENT = bytesTag(5);
const TIMESTAMP = varintTag(6);
const BITS = varintTag(7);
const NONCE = varintTag(8);
const DAA_SCORE = varintTag(9);
const BLUE_WORK = bytesTag(10);
const PARENTS = bytesTag(12);
const BLUE_SCORE = varintTag(13);
const PRUNING_POINT = bytesTag(14);
const HASH = bytesTag(15);

const PARENT_HASHES = bytesTag(1);

/**
 * `reader` is at the length of the message. The node's `hash` is not verified; a block template has
 * none.
 */
export function decodeHeader(reader: HexReader): { header: Header; hash: Hash | undefined } {
  const outerEnd = reader.enter();
  let hash: Hash | undefined;
  let hashMerkleRoot: Hash | undefined;
  let acceptedIdMerkleRoot: Hash | undefined;
  let utxoCommitment: Hash | undefined;
  let pruningPoint: Hash | undefined;
  let blueWork: bigint | undefined;
  let version = 0;
  let timestamp = 0n;
  let bits = 0;
  let nonce = 0n;
  let daaScore = 0n;
  let blueScore = 0n;
  const parentsByLevel: Hash[][] = [];
  let lastLevelStart = 0;
  let lastLevelEnd = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === PARENTS) {
      // A header has up to about two hundred levels, and most of the upper ones are equal.
      const start = reader.position;
      const lastLevel = parentsByLevel.at(-1);
      if (lastLevel !== undefined && skipCopy(reader, lastLevelStart, lastLevelEnd)) parentsByLevel.push(lastLevel);
      else parentsByLevel.push(decodeLevelParents(reader));
      lastLevelStart = start;
      lastLevelEnd = reader.position;
    } else if (tag === HASH_MERKLE_ROOT) hashMerkleRoot = reader.hash();
    else if (tag === ACCEPTED_ID_MERKLE_ROOT) acceptedIdMerkleRoot = reader.hash();
    else if (tag === UTXO_COMMITMENT) utxoCommitment = reader.hash();
    else if (tag === PRUNING_POINT) pruningPoint = reader.hash();
    else if (tag === HASH) hash = reader.hash();
    else if (tag === VERSION) version = reader.uint16();
    else if (tag === TIMESTAMP) timestamp = reader.int64();
    else if (tag === BITS) bits = reader.uint32();
    else if (tag === NONCE) nonce = reader.uint64();
    else if (tag === DAA_SCORE) daaScore = reader.uint64();
    else if (tag === BLUE_SCORE) blueScore = reader.uint64();
    else if (tag === BLUE_WORK) blueWork = decodeBlueWork(reader.text());
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (
    hashMerkleRoot === undefined ||
    acceptedIdMerkleRoot === undefined ||
    utxoCommitment === undefined ||
    pruningPoint === undefined ||
    blueWork === undefined
  ) {
    throw new NodeProtocolError('a header lacks a hash or its blue work');
  }
  return {
    header: {
      version,
      parentsByLevel,
      hashMerkleRoot,
      acceptedIdMerkleRoot,
      utxoCommitment,
      timestamp,
      bits,
      nonce,
      daaScore,
      blueWork,
      blueScore,
      pruningPoint,
    },
    hash,
  };
}

function decodeLevelParents(reader: HexReader): Hash[] {
  const outerEnd = reader.enter();
  const hashes: Hash[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === PARENT_HASHES) hashes.push(reader.hash());
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  return hashes;
}

/**
 * Skips the field at the reader if its bytes, including the length, equal those between start and
 * end.
 */
function skipCopy(reader: HexReader, start: number, end: number): boolean {
  const { bytes, position } = reader;
  const size = end - start;
  if (size > reader.end - position) return false;
  for (let offset = 0; offset < size; offset++) {
    if (bytes[start + offset] !== bytes[position + offset]) return false;
  }
  reader.position += size;
  return true;
}

/** Hex without leading zeros, of up to 192 bits, as the node writes it. */
function decodeBlueWork(text: string): bigint {
  if (!/^[0-9a-f]{1,48}$/i.test(text)) throw new NodeProtocolError(`blue work "${text}" is not a hex number`);
  return BigInt(`0x${text}`);
}

/**
 * Parents of the higher levels. In a node a block's level is how far its hash stays below the target, so that few blocks of high level
 * lie far apart and prove the chain in short; without proof of work, the leading zeros of the block's hash stand in for it here.
 */
import type { Hash } from '@kasgres/kaspa';
import type { Block } from './block.ts';
import { isDagAncestorOf } from './reachability.ts';

/** One block in 2^3 is of level 1 or higher, one in 2^6 of level 2, and so on. */
const ZERO_BITS_PER_LEVEL = 3;

/**
 * Hashes for a header, level by level; the higher levels as long as they hold more than genesis.
 * @param getBlock finds a block by its hash; throws on one that is unknown
 */
export function parentsByLevel(parents: readonly Block[], getBlock: (hash: Hash) => Block): Hash[][] {
  const levels: Hash[][] = [parents.map((parent) => parent.hash)];
  for (let level = 1; ; level += 1) {
    const nearest = new Set(parents.flatMap((parent) => nearestOfLevel(parent, level, getBlock)));
    const maximal = [...nearest].filter((block) => !hasDescendantIn(block, nearest));
    if (maximal.every(isGenesis)) return levels;
    levels.push(maximal.map((block) => block.hash));
  }
}

function nearestOfLevel(block: Block, level: number, getBlock: (hash: Hash) => Block): Block[] {
  if (isGenesis(block) || levelOf(block.hash) >= level) return [block];
  const parents = block.header.parentsByLevel[level];
  if (parents !== undefined) return parents.map(getBlock);
  // A header leaves out the levels that hold nothing but genesis.
  return [genesisBelow(block)];
}

function genesisBelow(block: Block): Block {
  let current = block;
  while (current.jump !== undefined) current = current.jump;
  return current;
}

function levelOf(hash: Hash): number {
  const firstBits = new DataView(hash.buffer, hash.byteOffset).getUint32(0);
  return Math.floor(Math.clz32(firstBits) / ZERO_BITS_PER_LEVEL);
}

function hasDescendantIn(block: Block, others: Iterable<Block>): boolean {
  for (const other of others) if (other !== block && isDagAncestorOf(block, other)) return true;
  return false;
}

function isGenesis(block: Block): boolean {
  return block.height === 0;
}

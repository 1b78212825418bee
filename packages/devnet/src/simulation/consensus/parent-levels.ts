/**
 * Parents of the higher levels. In a node a block's level is how far its hash stays below the target, so that few blocks of high level
 * lie far apart and prove the chain in short; without proof of work, the leading zeros of the block's hash stand in for it here.
 */
import { createHash } from 'node:crypto';
import { type Hash, toHex } from '@kasgres/kaspa';
import type { Block } from './block.ts';
import type { ConsensusParams } from './params.ts';
import { isDagAncestorOf } from './reachability.ts';

/** How the blocks of a network are spread over levels, and so how large its headers are. */
export interface BlockLevels {
  /** The level of the most ordinary block: below it the parents of all levels are the direct ones. */
  least: number;
  /** The logarithm of the ratio between the numbers of blocks of consecutive levels. */
  zeroBitsPerLevel: number;
  /** Levels in a header, at least: above those of the simulated past stand made-up hashes, as of a past of years. */
  count: number;
}

/** One block in 2^3 is of level 1 or higher, one in 2^6 of level 2, and so on. */
const SMALL_LEVELS: BlockLevels = { least: 0, zeroBitsPerLevel: 3, count: 0 };

/**
 * Mainnet of 2026: of 225 levels the difficulty (some 2^55 hashes a block) implies the lowest 24, and a history of 2^29 blocks reaches about thirty
 * levels further.
 */
export const MAINNET_LEVELS: BlockLevels = { least: 24, zeroBitsPerLevel: 1, count: 54 };

/** By level. Each hash serves two levels, since every second block of a level is also of the next one. */
const madeUp = Array.from({ length: 256 }, (_, level) =>
  createHash('sha256')
    .update(`level ${Math.floor(level / 2)}`)
    .digest(),
);
const isMadeUp = new Set(madeUp.map(toHex));

/**
 * Hashes for a header, level by level; the higher levels as long as they hold more than genesis.
 * @param getBlock finds a block by its hash; throws on one that is unknown
 */
export function parentsByLevel(
  parents: readonly Block[],
  { blockLevels = SMALL_LEVELS }: Pick<ConsensusParams, 'blockLevels'>,
  getBlock: (hash: Hash) => Block,
): Hash[][] {
  const direct = parents.map((parent) => parent.hash);
  const levels: Hash[][] = [direct];
  if (!parents.every(isGenesis)) for (let level = 1; level <= blockLevels.least; level += 1) levels.push(direct);
  for (let level = levels.length; ; level += 1) {
    const nearest = new Set(parents.flatMap((parent) => nearestOfLevel(parent, level, blockLevels, getBlock)));
    const maximal = [...nearest].filter((block) => !hasDescendantIn(block, nearest));
    if (maximal.every(isGenesis)) break;
    levels.push(maximal.map((block) => block.hash));
  }
  for (let level = levels.length; level < blockLevels.count; level += 1) levels.push([madeUp[level] as Hash]);
  return levels;
}

function nearestOfLevel(
  block: Block,
  level: number,
  blockLevels: BlockLevels,
  getBlock: (hash: Hash) => Block,
): Block[] {
  if (isGenesis(block) || levelOf(block.hash, blockLevels) >= level) return [block];
  const parents = block.header.parentsByLevel[level];
  const [first] = parents ?? [];
  if (parents !== undefined && first !== undefined && !isMadeUp.has(toHex(first))) return parents.map(getBlock);
  // A header leaves out the levels that hold nothing but genesis.
  return [genesisBelow(block)];
}

function genesisBelow(block: Block): Block {
  let current = block;
  while (current.jump !== undefined) current = current.jump;
  return current;
}

function levelOf(hash: Hash, { least, zeroBitsPerLevel }: BlockLevels): number {
  const firstBits = new DataView(hash.buffer, hash.byteOffset).getUint32(0);
  return least + Math.floor(Math.clz32(firstBits) / zeroBitsPerLevel);
}

function hasDescendantIn(block: Block, others: Iterable<Block>): boolean {
  for (const other of others) if (other !== block && isDagAncestorOf(block, other)) return true;
  return false;
}

function isGenesis(block: Block): boolean {
  return block.height === 0;
}

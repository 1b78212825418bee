/**
 * Parents of the higher levels. There is no proof of work, so the leading zeros of a hash determine
 * the level.
 */
import { hash } from 'node:crypto';
import { type Hash, toHex } from '@kasgres/kaspa';
import type { Block } from './block.ts';
import type { BlockLevels, ConsensusParams } from './params.ts';
import { isDagAncestorOf } from './reachability.ts';

const SMALL_LEVELS: BlockLevels = { least: 0, zeroBitsPerLevel: 3, count: 0 };

/**
 * Mainnet in 2026: its difficulty (2^55 hashes a block) implies the lowest 24 levels, and 2^29
 * blocks fill about thirty more.
 */
export const MAINNET_LEVELS: BlockLevels = { least: 24, zeroBitsPerLevel: 1, count: 54 };

/**
 * Made-up hashes by level. Two levels share one, since every second block of a level is also of the
 * next one.
 */
const madeUp = Array.from({ length: 256 }, (_, level) => hash('sha256', `level ${Math.floor(level / 2)}`, 'buffer'));
const isMadeUp = new Set(madeUp.map(toHex));

/**
 * Returns the parent hashes of a header by level, up to the last level that has more than genesis.
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
    const maximal = [...nearest].filter(
      (block) => ![...nearest].some((other) => other !== block && isDagAncestorOf(block, other)),
    );
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
  const [first, ...others] = block.header.parentsByLevel[level] ?? [];
  if (first !== undefined && !isMadeUp.has(toHex(first))) return [first, ...others].map(getBlock);
  // A header omits the levels that have only genesis.
  let genesis = block;
  while (genesis.jump !== undefined) genesis = genesis.jump;
  return [genesis];
}

function levelOf(hash: Hash, { least, zeroBitsPerLevel }: BlockLevels): number {
  const firstBits = new DataView(hash.buffer, hash.byteOffset).getUint32(0);
  return least + Math.floor(Math.clz32(firstBits) / zeroBitsPerLevel);
}

function isGenesis(block: Block): boolean {
  return block.height === 0;
}

/**
 * GHOSTDAG (https://eprint.iacr.org/2018/104.pdf) as rusty-kaspa runs it: the parent with the most blue work is the selected parent;
 * the blocks that only the other parents bring are coloured greedily in ascending order, blue as long as no blue block gets
 * more than k blues into its anticone.
 */
import { type Block, compareBlocks, type Ghostdag, greatest } from './block.ts';
import type { ConsensusParams } from './params.ts';
import { isDagAncestorOf } from './reachability.ts';

/** Computes the GHOSTDAG data of a block with these parents. Throws without parents: genesis has no such data. */
export function ghostdag(
  parents: readonly Block[],
  { ghostdagK, ghostdagKBefore: before }: Pick<ConsensusParams, 'ghostdagK' | 'ghostdagKBefore'>,
): Ghostdag {
  const selectedParent = greatest(parents);
  const k = before !== undefined && selectedParent.daaScore < before.daaScore ? before.k : ghostdagK;
  const colouring: Colouring = {
    selectedParent,
    mergeSetBlues: [selectedParent],
    blueAnticoneSizes: new Map([[selectedParent, 0]]),
  };
  const mergeSetReds: Block[] = [];
  const others = blocksMergedBeside(selectedParent, parents).sort(compareBlocks);
  for (const candidate of others) {
    const affected = findAffectedBlues(colouring, candidate, k);
    if (affected === undefined) {
      mergeSetReds.push(candidate);
      continue;
    }
    colouring.mergeSetBlues.push(candidate);
    colouring.blueAnticoneSizes.set(candidate, affected.size);
    for (const [blue, size] of affected) colouring.blueAnticoneSizes.set(blue, size + 1);
  }
  return {
    ...colouring,
    mergeSetReds,
    mergeSet: [selectedParent, ...others],
    blueScore: selectedParent.blueScore + colouring.mergeSetBlues.length,
    blueWork: colouring.mergeSetBlues.reduce((sum, blue) => sum + blue.work, selectedParent.blueWork),
  };
}

interface Colouring {
  selectedParent: Block;
  mergeSetBlues: Block[];
  blueAnticoneSizes: Map<Block, number>;
}

/** The past of the parents, parents included, without the past of the selected parent and without it. */
function blocksMergedBeside(selectedParent: Block, parents: readonly Block[]): Block[] {
  const seen = new Set<Block>();
  const queue = [...parents];
  for (const block of queue) {
    if (seen.has(block) || isDagAncestorOf(block, selectedParent)) continue;
    seen.add(block);
    queue.push(...block.parents);
  }
  return [...seen];
}

/**
 * Returns the blues in the candidate's anticone, with the sizes of their blue anticones before it; `undefined` if the candidate must
 * be red. Goes down the selected chain, mergeset by mergeset, until a chain block is in the candidate's past: then all further
 * blues are too.
 */
function findAffectedBlues(colouring: Colouring, candidate: Block, k: number): Map<Block, number> | undefined {
  if (colouring.mergeSetBlues.length === k + 1) return undefined;
  const affected = new Map<Block, number>();
  let blues: readonly Block[] = colouring.mergeSetBlues;
  let chainBlock = colouring.selectedParent;
  for (;;) {
    for (const blue of blues) {
      if (isDagAncestorOf(blue, candidate)) continue;
      const size = blueAnticoneSize(blue, colouring);
      affected.set(blue, size);
      if (affected.size > k || size === k) return undefined;
    }
    if (isDagAncestorOf(chainBlock, candidate)) return affected;
    const below = getGhostdag(chainBlock);
    blues = below.mergeSetBlues;
    chainBlock = below.selectedParent;
  }
}

/** How many blues a blue block has in its anticone, as the nearest block down the selected chain knows it. */
function blueAnticoneSize(blue: Block, colouring: Colouring): number {
  let sizes: ReadonlyMap<Block, number> = colouring.blueAnticoneSizes;
  let chainBlock = colouring.selectedParent;
  for (;;) {
    const size = sizes.get(blue);
    if (size !== undefined) return size;
    const below = getGhostdag(chainBlock);
    sizes = below.blueAnticoneSizes;
    chainBlock = below.selectedParent;
  }
}

/** Every block but genesis has it, and genesis is in every block's past: walks end before they ask for it. */
export function getGhostdag(block: Block): Ghostdag {
  if (block.ghostdag === undefined) throw new Error('genesis has no mergeset');
  return block.ghostdag;
}

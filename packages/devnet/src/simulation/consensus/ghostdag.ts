/**
 * GHOSTDAG (https://eprint.iacr.org/2018/104.pdf) as in rusty-kaspa: merged blocks are coloured
 * greedily in ascending order.
 */
import { type Block, compareBlocks, getGhostdag, type Ghostdag } from './block.ts';
import type { ConsensusParams } from './params.ts';
import { isDagAncestorOf } from './reachability.ts';

type Colouring = { mergeSetBlues: Block[]; blueAnticoneSizes: Map<Block, number> } & Pick<Ghostdag, 'selectedParent'>;

/** Throws without parents. */
export function ghostdag(
  parents: readonly Block[],
  { ghostdagK, ghostdagKBefore: before }: Pick<ConsensusParams, 'ghostdagK' | 'ghostdagKBefore'>,
): Ghostdag {
  const selectedParent = parents.toSorted(compareBlocks).at(-1);
  if (selectedParent === undefined) throw new Error('a block without parents');
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

function blocksMergedBeside(selectedParent: Block, parents: readonly Block[]): Block[] {
  const merged = new Set<Block>();
  const queue = [...parents];
  for (const block of queue) {
    if (merged.has(block) || isDagAncestorOf(block, selectedParent)) continue;
    merged.add(block);
    queue.push(...block.parents);
  }
  return [...merged];
}

/**
 * Returns the blues in the candidate's anticone with the sizes of their blue anticones, `undefined`
 * if the candidate must be red.
 */
function findAffectedBlues(colouring: Colouring, candidate: Block, k: number): Map<Block, number> | undefined {
  if (colouring.mergeSetBlues.length === k + 1) return undefined;
  const affected = new Map<Block, number>();
  let level: Pick<Ghostdag, 'selectedParent' | 'mergeSetBlues'> = colouring;
  for (;;) {
    for (const blue of level.mergeSetBlues) {
      if (isDagAncestorOf(blue, candidate)) continue;
      const size = blueAnticoneSize(blue, colouring);
      affected.set(blue, size);
      if (affected.size > k || size === k) return undefined;
    }
    // All further blues are in the past of the candidate too.
    if (isDagAncestorOf(level.selectedParent, candidate)) return affected;
    level = getGhostdag(level.selectedParent);
  }
}

/** The nearest block down the selected chain that has a count of this blue has the latest one. */
function blueAnticoneSize(blue: Block, colouring: Colouring): number {
  let level: Pick<Ghostdag, 'selectedParent' | 'blueAnticoneSizes'> = colouring;
  for (;;) {
    const size = level.blueAnticoneSizes.get(blue);
    if (size !== undefined) return size;
    level = getGhostdag(level.selectedParent);
  }
}

/**
 * The data that a node keeps when its pruning point moves: complete blocks above it, and headers a little deeper. Source: rusty-kaspa,
 * `PruningProcessor::prune`, which keeps more headers than these: of its windows and of its proof.
 */
import type { Dag, DagBlock } from './dag.ts';

export interface Remains {
  /** The pruning point, its future, and as much of its anticone as is in the past of its future. */
  whole: ReadonlySet<DagBlock>;
  /** Other blocks in the mergesets of the whole blocks, and the mergesets of some chain blocks below the pruning point. */
  headers: ReadonlySet<DagBlock>;
}

/**
 * @param root a chain block
 * @param headersBelow the mergesets of this number of chain blocks, from the root down, are kept as headers; more if whole blocks need them
 */
export function whatRemains(dag: Dag, root: DagBlock, headersBelow: number): Remains {
  const { chainIndex } = root;
  if (chainIndex === undefined) throw new RangeError(`block ${root.hash} is not on the chain`);
  const whole = futureOf(root, dag);
  // The set grows while it is walked.
  for (const block of whole) {
    if (block === root) continue;
    for (const parent of block.parents) if (!isMergedUpTo(chainIndex, parent)) whole.add(parent);
  }
  let lowest = Math.max(0, chainIndex - headersBelow + 1);
  for (const { mergeSet } of whole) {
    for (const { mergingBlock } of mergeSet) lowest = Math.min(lowest, mergingBlock?.chainIndex ?? lowest);
  }
  const below = dag.chainBlocks.slice(lowest, chainIndex + 1).flatMap(({ mergeSet }) => mergeSet);
  return { whole, headers: new Set(below) };
}

/** Returns the future of a block and the block itself. */
function futureOf(block: DagBlock, dag: Dag): Set<DagBlock> {
  const future = new Set([block]);
  for (const other of dag.allBlocks()) {
    if (other.parents.some((parent) => future.has(parent))) future.add(other);
  }
  return future;
}

/** Whether a block is in the past of the chain block at this index. */
function isMergedUpTo(chainIndex: number, { mergingBlock }: DagBlock): boolean {
  return (mergingBlock?.chainIndex ?? Number.POSITIVE_INFINITY) <= chainIndex;
}

/** Chain blocks at which an index is hard to bootstrap, because of the blocks in their anticone. */
import { toHex } from '@kasgres/kaspa';
import type { Dag, DagBlock } from '../../dag/dag.ts';

/** Returns the chain blocks whose anticone has a payment that was accepted below, lowest first. */
export function hardPruningPoints(dag: Dag): DagBlock[] {
  const isHard = new Set<DagBlock>();
  for (const merged of dag.chainBlocks.flatMap(({ mergeSet }) => mergeSet)) {
    const accepted = merged.transactions.slice(1).map(({ transactionId }) => {
      return indexOf(dag.findAcceptingBlock(toHex(transactionId)));
    });
    for (const block of besideOf(merged, dag)) if (indexOf(block) >= Math.min(...accepted)) isHard.add(block);
  }
  return dag.chainBlocks.filter((block) => isHard.has(block));
}

/**
 * Returns the blocks of a chain block's anticone that are merged later and whose parents are all
 * merged below.
 */
export function blocksBeside(block: DagBlock, dag: Dag): DagBlock[] {
  const above = dag.chainBlocks.slice(indexOf(block) + 1).flatMap(({ mergeSet }) => mergeSet);
  return above.filter((merged) => besideOf(merged, dag).includes(block));
}

/** Returns the chain blocks in the anticone of a block. */
function besideOf({ chainIndex, parents, mergingBlock }: DagBlock, dag: Dag): readonly DagBlock[] {
  if (chainIndex !== undefined || mergingBlock === undefined) return [];
  const lowest = Math.max(...parents.map((parent) => indexOf(parent.mergingBlock)));
  return dag.chainBlocks.slice(lowest, indexOf(mergingBlock));
}

/** Returns the chain index, infinite for a block that is not on the chain. */
function indexOf(block: DagBlock | undefined): number {
  return block?.chainIndex ?? Number.POSITIVE_INFINITY;
}

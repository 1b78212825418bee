/** Chain blocks that are hard to begin an index at, because of what lies beside them. */
import { toHex } from '@kasgres/kaspa';
import type { Dag, DagBlock } from '../../dag/dag.ts';

/**
 * Chain blocks with a block in their anticone that is merged later, all of whose parents are below, and that carries a payment which was
 * accepted below; lowest first.
 */
export function hardPruningPoints(dag: Dag): DagBlock[] {
  return dag.chainBlocks.filter((block) => {
    return blocksBeside(block, dag).some((beside) => carriesAcceptedUpTo(indexOf(block), beside, dag));
  });
}

/** The anticone of a chain block, as far as it is merged later and stands on nothing but what is below. */
export function blocksBeside(block: DagBlock, dag: Dag): DagBlock[] {
  const index = indexOf(block);
  return dag.chainBlocks
    .slice(index + 1)
    .flatMap(({ mergeSet }) => mergeSet)
    .filter((merged) => merged !== block && merged.parents.length > 0)
    .filter(({ parents }) => parents.every(({ mergingBlock }) => indexOf(mergingBlock) <= index));
}

function carriesAcceptedUpTo(index: number, { transactions }: DagBlock, dag: Dag): boolean {
  return transactions
    .slice(1)
    .some(({ transactionId }) => indexOf(dag.findAcceptingBlock(toHex(transactionId))) <= index);
}

/** On the chain; a block that is not on it is above all that are. */
function indexOf(block: DagBlock | undefined): number {
  return block?.chainIndex ?? Number.POSITIVE_INFINITY;
}

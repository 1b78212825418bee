/** Chain blocks that are hard to begin an index at, because of what lies beside them. */
import { toHex } from '@kasgres/kaspa';
import type { Dag, DagBlock } from '../../dag/dag.ts';

/**
 * Chain blocks with a block in their anticone that is merged later, all of whose parents are below, and that carries a payment which was
 * accepted below; lowest first.
 */
export function hardPruningPoints(dag: Dag): DagBlock[] {
  return dag.chainBlocks.filter((block) =>
    blocksBeside(block, dag).some((beside) => carriesAcceptedBelow(beside, block, dag)),
  );
}

/** The anticone of a chain block, as far as it is merged later and stands on nothing but what is below. */
export function blocksBeside({ chainIndex }: DagBlock, dag: Dag): DagBlock[] {
  const index = Number(chainIndex);
  const isBelow = ({ mergingBlock }: DagBlock): boolean => Number(mergingBlock?.chainIndex ?? Infinity) <= index;
  return dag.chainBlocks
    .slice(index + 1)
    .flatMap(({ mergeSet }) => mergeSet)
    .filter(({ parents, chainIndex: own }) => own !== index && parents.length > 0 && parents.every(isBelow));
}

function carriesAcceptedBelow({ transactions }: DagBlock, { chainIndex }: DagBlock, dag: Dag): boolean {
  return transactions.slice(1).some(({ transactionId }) => {
    const accepting = dag.findAcceptingBlock(toHex(transactionId));
    return Number(accepting?.chainIndex ?? Infinity) <= Number(chainIndex);
  });
}

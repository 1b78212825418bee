/** Chain blocks that are hard to begin an index at, because of what lies beside them. */
import { toHex } from '@kasgres/kaspa';
import type { Dag, DagBlock } from '../../dag/dag.ts';

/** Chain blocks with a block beside them that carries a payment which was accepted below; lowest first. */
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

/** The anticone of a chain block, as far as it is merged later and stands on nothing but what is below. */
export function blocksBeside(block: DagBlock, dag: Dag): DagBlock[] {
  const above = dag.chainBlocks.slice(indexOf(block) + 1).flatMap(({ mergeSet }) => mergeSet);
  return above.filter((merged) => besideOf(merged, dag).includes(block));
}

/** The chain blocks that a block is beside of. */
function besideOf({ chainIndex, parents, mergingBlock }: DagBlock, dag: Dag): readonly DagBlock[] {
  if (chainIndex !== undefined || mergingBlock === undefined) return [];
  const standsOn = Math.max(...parents.map((parent) => indexOf(parent.mergingBlock)));
  return dag.chainBlocks.slice(standsOn, indexOf(mergingBlock));
}

/** On the chain; a block that is not on it is above all that are. */
function indexOf(block: DagBlock | undefined): number {
  return block?.chainIndex ?? Number.POSITIVE_INFINITY;
}

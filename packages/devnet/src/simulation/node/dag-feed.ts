/** Copies the results of consensus into the DAG that the RPC reads: new blocks, the selected chain and the virtual block. */
import { difficultyFromBits } from '@kasgres/kaspa';
import type { ChainChange, Dag, DagBlock } from '../../dag/dag.ts';
import type { Block } from '../consensus/block.ts';
import type { ChainMove } from '../consensus/chain-move.ts';
import type { Virtual } from '../consensus/consensus.ts';

export function addToDag(dag: Dag, block: Block): DagBlock {
  const { ghostdag } = block;
  return dag.add({
    hash: block.id,
    header: block.header,
    selectedParentHash: ghostdag?.selectedParent.id,
    mergeSetBlues: idsOf(ghostdag?.mergeSetBlues ?? []),
    mergeSetReds: idsOf(ghostdag?.mergeSetReds ?? []),
    transactions: block.transactions,
    difficulty: difficultyFromBits(block.bits),
  });
}

export function moveDag(dag: Dag, move: ChainMove, virtual: Virtual): ChainChange {
  for (const block of move.added) setAcceptance(dag, block);
  return dag.setVirtual({
    sink: virtual.ghostdag.selectedParent.id,
    parents: idsOf(virtual.parents),
    blueScore: BigInt(virtual.ghostdag.blueScore),
    daaScore: BigInt(virtual.daaScore),
    pastMedianTime: BigInt(virtual.pastMedianTime),
    difficulty: difficultyFromBits(virtual.bits),
  });
}

function setAcceptance(dag: Dag, { id, state }: Block): void {
  if (state.kind !== 'qualified') throw new Error(`block ${id} is on the chain without being qualified`);
  dag.setAcceptance(
    id,
    state.acceptance.accepted.map(({ block, index }) => ({ blockHash: block.id, index })),
  );
}

function idsOf(blocks: readonly Block[]): string[] {
  return blocks.map((block) => block.id);
}

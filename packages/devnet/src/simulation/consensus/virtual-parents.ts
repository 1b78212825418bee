/**
 * Picks the parents of a new block (rusty-kaspa, consensus/src/pipeline/virtual_processor/processor.rs): on the best block that can be on the
 * selected chain, the sink, and on as many other tips as a block may have and merge.
 */
import { type Block, compareBlocks } from './block.ts';
import type { ConsensusParams } from './params.ts';
import { isAnyDagAncestorOf, isChainAncestorOf, isDagAncestorOf, isDagAncestorOfAny } from './reachability.ts';
import type { StateCursor } from './state-cursor.ts';

/**
 * The block of most blue work that is qualified for the chain, among the tips and, where a tip is not, its past. The cursor is left
 * there. The other candidates come with it, descending.
 * @param finalBlock the highest block that is permanently on the selected chain
 */
export function findSink(
  tips: readonly Block[],
  cursor: StateCursor,
  finalBlock: Block,
): { sink: Block; candidates: Block[] } {
  const heap = tips.filter((tip) => isDagAncestorOf(finalBlock, tip)).sort(compareBlocks);
  for (let best = heap.pop(); best !== undefined; best = heap.pop()) {
    if (isChainAncestorOf(finalBlock, best) && cursor.moveTo(best)) return { sink: best, candidates: heap.reverse() };
    for (const parent of best.parents) {
      if (isDagAncestorOf(finalBlock, parent) && !isDagAncestorOfAny(parent, heap)) heap.push(parent);
    }
    heap.sort(compareBlocks);
  }
  throw new Error('the final block can always be the sink');
}

/** The sink first. Deterministic, where a node shuffles when there are very many tips. */
export function pickVirtualParents(sink: Block, candidates: readonly Block[], params: ConsensusParams): Block[] {
  const parents = [sink];
  let mergeSetSize = 1;
  const queue = [...candidates];
  for (let candidate = queue.shift(); candidate !== undefined; candidate = queue.shift()) {
    if (mergeSetSize >= params.mergesetSizeLimit || parents.length >= params.maxBlockParents) break;
    const increase = mergeSetIncrease(parents, candidate, params.mergesetSizeLimit - mergeSetSize);
    if (increase.kind === 'fits') {
      mergeSetSize += increase.size;
      parents.push(candidate);
    } else if (!isAnyDagAncestorOf(queue, increase.instead)) {
      // Too much at once: merge a part of its past first.
      const { instead } = increase;
      const others = queue.filter((block) => !isDagAncestorOf(instead, block));
      queue.splice(0, queue.length, ...others, instead);
    }
  }
  return parents;
}

type Increase = { kind: 'fits'; size: number } | { kind: 'too-large'; instead: Block };

/** How many blocks a further parent adds to the mergeset. */
function mergeSetIncrease(parents: readonly Block[], candidate: Block, budget: number): Increase {
  const queue = [...candidate.parents];
  const seen = new Set(queue);
  let size = 1;
  for (const block of queue) {
    if (isDagAncestorOfAny(block, parents)) continue;
    size += 1;
    if (size > budget) return { kind: 'too-large', instead: block };
    for (const parent of block.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      queue.push(parent);
    }
  }
  return { kind: 'fits', size };
}

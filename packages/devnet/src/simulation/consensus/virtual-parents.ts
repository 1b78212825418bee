/**
 * The parents of a new block. Source: rusty-kaspa,
 * consensus/src/pipeline/virtual_processor/processor.rs.
 */
import { type Block, compareBlocks } from './block.ts';
import type { ConsensusParams } from './params.ts';
import { isChainAncestorOf, isDagAncestorOf, isDagAncestorOfAny } from './reachability.ts';
import type { StateCursor } from './state-cursor.ts';

/**
 * Returns the block of most blue work that is qualified for the chain, and the other candidates,
 * descending. The cursor stops at that block.
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

/** Returns the sink first. A node shuffles very many tips, which is not simulated. */
export function pickVirtualParents(sink: Block, candidates: readonly Block[], params: ConsensusParams): Block[] {
  const parents = [sink];
  let mergeSetSize = 1;
  let queue = [...candidates];
  for (let candidate = queue.shift(); candidate !== undefined; candidate = queue.shift()) {
    if (mergeSetSize >= params.mergesetSizeLimit || parents.length >= params.maxBlockParents) break;
    const increase = mergeSetIncrease(parents, candidate, params.mergesetSizeLimit - mergeSetSize);
    if (typeof increase === 'number') {
      mergeSetSize += increase;
      parents.push(candidate);
    } else if (!queue.some((block) => isDagAncestorOf(block, increase))) {
      queue = [...queue.filter((block) => !isDagAncestorOf(increase, block)), increase];
    }
  }
  return parents;
}

/**
 * Returns the number of blocks that a further parent adds to the mergeset; beyond the budget, a
 * block of its past to be merged first.
 */
function mergeSetIncrease(parents: readonly Block[], candidate: Block, budget: number): number | Block {
  const past = new Set(candidate.parents);
  let size = 1;
  for (const block of past) {
    if (isDagAncestorOfAny(block, parents)) continue;
    size += 1;
    if (size > budget) return block;
    for (const parent of block.parents) past.add(parent);
  }
  return size;
}

/**
 * Which blocks a node's getBlocks names, and in which order: `low`; then the mergesets of the chain blocks above low's highest
 * ancestor on the chain, as far as they fit; the last of these chain blocks; and behind the sink, its anticone below the
 * virtual block. Source: rusty-kaspa, `get_blocks_call` and `antipast_hashes_between`.
 */
import type { Dag, DagBlock } from '../dag.ts';
import { NodeResponseError } from '../node-state.ts';
import { chainAbove, highestChainAncestor } from './chain.ts';

/**
 * Below the pruning point, blocks are headers only. Throws the node's error for a low that leaves the chain deeper than that.
 * @param mergeSetSizeLimit the network's (248 at ten blocks a second)
 */
export function blocksFrom(dag: Dag, low: DagBlock, mergeSetSizeLimit: number): DagBlock[] {
  const maxBlocks = mergeSetSizeLimit + 1;
  const ancestor = highestChainAncestor(low);
  if (ancestor === undefined) throw new NodeResponseError(`some data is missing for block ${low.hash}`);
  const notWanted = pastAbove(low, ancestor);
  const blocks: DagBlock[] = [];
  let reached = ancestor;
  for (const chainBlock of chainAbove(dag, ancestor)) {
    // The whole mergeset must fit, although a part of it may then be left out.
    if (blocks.length + chainBlock.mergeSet.length > maxBlocks) break;
    for (const merged of chainBlock.mergeSet) {
      if (merged !== low && !notWanted.has(merged)) blocks.push(merged);
    }
    reached = chainBlock;
  }
  if (reached !== ancestor) blocks.push(reached);
  if (reached === dag.sink) {
    const named = new Set([low, ...blocks]);
    blocks.push(...sinkAnticone(dag).filter((block) => !named.has(block)));
  }
  return [low, ...blocks];
}

/** The sink's anticone within the virtual block's past: what the virtual block merges beside the sink. */
export function sinkAnticone(dag: Dag): DagBlock[] {
  const { parents, sink } = dag.virtual;
  const seen = new Set<DagBlock>(parents);
  const anticone: DagBlock[] = [];
  // The set grows while it is walked: a search in breadth from the virtual block's parents down to what is merged.
  for (const block of seen) {
    if (block === sink || block.mergingBlock !== undefined) continue;
    anticone.push(block);
    for (const parent of block.parents) seen.add(parent);
  }
  return anticone;
}

/** The part of low's past that mergesets above its chain ancestor may name: the ancestor itself (the first of them begins with
 * it), and for a low off the chain the mergesets down its selected parents. */
function pastAbove(low: DagBlock, ancestor: DagBlock): Set<DagBlock> {
  const past = new Set<DagBlock>();
  for (let block = low; block !== ancestor && block.selectedParent !== undefined; block = block.selectedParent) {
    for (const merged of block.mergeSet) past.add(merged);
  }
  past.add(ancestor);
  return past;
}

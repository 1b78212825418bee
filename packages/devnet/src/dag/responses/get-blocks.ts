/**
 * Selects the blocks of a node's getBlocks. Source: rusty-kaspa, `get_blocks_call` and
 * `antipast_hashes_between`.
 */
import type { Dag, DagBlock } from '../dag.ts';
import { NodeResponseError } from '../node-state.ts';
import { chainAbove, highestChainAncestor } from './chain.ts';

/**
 * Returns `low`; the mergesets of the chain blocks above its highest chain ancestor, while they
 * fit; the last of these chain blocks; and after the sink, its anticone. Throws the node's error if
 * the chain ancestor is pruned.
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

/** Returns the sink's anticone in the virtual block's past, breadth first. */
export function sinkAnticone(dag: Dag): DagBlock[] {
  const { parents, sink } = dag.virtual;
  const seen = new Set<DagBlock>(parents);
  const anticone: DagBlock[] = [];
  // The set grows during the loop.
  for (const block of seen) {
    if (block === sink || block.mergingBlock !== undefined) continue;
    anticone.push(block);
    for (const parent of block.parents) seen.add(parent);
  }
  return anticone;
}

/**
 * Returns the blocks of low's past that mergesets above its chain ancestor may contain. The first
 * of these mergesets starts with the ancestor.
 */
function pastAbove(low: DagBlock, ancestor: DagBlock): Set<DagBlock> {
  const past = new Set<DagBlock>();
  for (let block = low; block !== ancestor && block.selectedParent !== undefined; block = block.selectedParent) {
    for (const merged of block.mergeSet) past.add(merged);
  }
  past.add(ancestor);
  return past;
}

/**
 * Ancestors without walking the DAG. Jump pointers find an ancestor in the tree of selected parents
 * in logarithmic time. A block's future is its own subtree and the subtrees of the blocks that
 * merged it.
 */
import type { Block, Ghostdag } from './block.ts';

export function treePosition(selectedParent: Block | undefined): Pick<Block, 'height' | 'jump'> {
  if (selectedParent === undefined) return { height: 0, jump: undefined };
  const { jump } = selectedParent;
  // Two jumps of equal length are followed by one over both: skew-binary numbers.
  const canJoin = jump?.jump !== undefined && selectedParent.height - jump.height === jump.height - jump.jump.height;
  return { height: selectedParent.height + 1, jump: canJoin ? jump.jump : selectedParent };
}

export function recordMerges(block: Block, { selectedParent, mergeSet }: Ghostdag): void {
  for (const merged of mergeSet) {
    if (merged === selectedParent) continue;
    if (!merged.mergedBy.some((earlier) => isChainAncestorOf(earlier, block))) merged.mergedBy.push(block);
  }
}

/**
 * Returns the ancestor by selected parents at a height, `undefined` if the block itself is lower.
 */
export function findChainAncestorAt(block: Block, height: number): Block | undefined {
  let current = block;
  while (current.height > height) {
    const { jump, ghostdag } = current;
    const next = jump !== undefined && jump.height >= height ? jump : ghostdag?.selectedParent;
    if (next === undefined) return undefined;
    current = next;
  }
  return current.height === height ? current : undefined;
}

/** Returns true also for the block itself, as `isDagAncestorOf` does. */
export function isChainAncestorOf(ancestor: Block, block: Block): boolean {
  return ancestor.height <= block.height && findChainAncestorAt(block, ancestor.height) === ancestor;
}

export function isDagAncestorOf(ancestor: Block, block: Block): boolean {
  if (ancestor.index >= block.index) return ancestor === block;
  return isChainAncestorOf(ancestor, block) || ancestor.mergedBy.some((merging) => isChainAncestorOf(merging, block));
}

export function isDagAncestorOfAny(ancestor: Block, blocks: readonly Block[]): boolean {
  return blocks.some((block) => isDagAncestorOf(ancestor, block));
}

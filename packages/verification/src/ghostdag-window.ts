/**
 * A window of the latest blocks of a DAG that tells whether one is in the past of another without
 * walking the DAG. Selected parents form a tree, in which jump pointers find ancestors in
 * logarithmic time; the future of a block is its subtree and the subtrees of blocks that merge it.
 */

export interface DagBlock {
  readonly id: bigint;
  readonly hash: Buffer;
  readonly blueWork: bigint;
  readonly blueScore: bigint;
  readonly daaScore: bigint;
  /** Blue work that merging it as a blue adds. */
  readonly work: bigint;
  readonly parents: readonly bigint[];
  /** Undefined for genesis. */
  readonly selectedParent: bigint | undefined;
  /** Selected parent first. */
  readonly blues: readonly bigint[];
  readonly reds: readonly bigint[];
  anticoneSizes?: AnticoneSizes;
}

/** The blue anticone sizes that changed with the mergeset of a block. */
export interface AnticoneSizes {
  sizes: Map<bigint, number>;
  /** False if blocks of the past are unknown, so that there may be more. */
  isExact: boolean;
}

interface Node {
  block: DagBlock;
  order: number;
  /** Height in the tree of selected parents above its lowest known block. */
  height: number;
  /** A skew-binary jump pointer down that tree. */
  jump: bigint | undefined;
  /** Whether the selected parent was unknown when the block was added. */
  isRoot: boolean;
  /**
   * Blocks that merge it beside their selected parent, of which none is a tree ancestor of another.
   */
  mergedBy: bigint[];
}

/** One hour of ten blocks per second. */
export const WINDOW_BLOCKS = 36_000;

export class DagWindow {
  readonly #nodes = new Map<bigint, Node>();
  #next = 0;

  get(id: bigint): DagBlock | undefined {
    return this.#nodes.get(id)?.block;
  }

  /**
   * Adds a block, and forgets the oldest of too many. Its parents were added before, as far as they
   * are known.
   */
  add(block: DagBlock): void {
    const { id, selectedParent } = block;
    const node: Node = { block, order: this.#next++, height: 0, jump: undefined, isRoot: false, mergedBy: [] };
    const parent = selectedParent === undefined ? undefined : this.#nodes.get(selectedParent);
    if (parent !== undefined) {
      node.height = parent.height + 1;
      node.jump = this.#jumpFrom(parent);
    } else node.isRoot = selectedParent !== undefined;
    this.#nodes.set(id, node);
    for (const mergedId of [...block.blues, ...block.reds]) {
      const merged = mergedId === selectedParent ? undefined : this.#nodes.get(mergedId);
      if (merged?.mergedBy.some((other) => this.#isChainAncestor(other, id) === true) === false)
        merged.mergedBy.push(id);
    }
    const [oldest] = this.#nodes.keys();
    if (oldest !== undefined && this.#nodes.size > WINDOW_BLOCKS) this.#nodes.delete(oldest);
  }

  /**
   * Whether a block equals another or is in its past; undefined if that depends on unknown blocks.
   */
  isInPast(ancestor: bigint, id: bigint): boolean | undefined {
    if (ancestor === id) return true;
    const node = this.#nodes.get(ancestor);
    if (node === undefined) return undefined;
    let isAncestor = this.#isChainAncestor(ancestor, id);
    for (const merging of node.mergedBy) {
      if (isAncestor === true) return true;
      const isMerged = this.#isChainAncestor(merging, id);
      if (isMerged !== false) isAncestor = isMerged;
    }
    return isAncestor;
  }

  #jumpFrom(parent: Node): bigint {
    const jump = parent.jump === undefined ? undefined : this.#nodes.get(parent.jump);
    const further = jump?.jump === undefined ? undefined : this.#nodes.get(jump.jump);
    // Two jumps of equal length are joined into one.
    const canJoin =
      further !== undefined && parent.height - (jump as Node).height === (jump as Node).height - further.height;
    return canJoin ? further.block.id : parent.block.id;
  }

  /**
   * Whether a block equals another or is its ancestor along selected parents; undefined if the
   * window ends before.
   */
  #isChainAncestor(ancestor: bigint, id: bigint): boolean | undefined {
    const target = this.#nodes.get(ancestor);
    let current = this.#nodes.get(id);
    if (target === undefined || current === undefined) return undefined;
    while (current.order > target.order) {
      if (current.isRoot) return undefined;
      const jump: Node | undefined = current.jump === undefined ? undefined : this.#nodes.get(current.jump);
      if (jump !== undefined && jump.order >= target.order) {
        current = jump;
        continue;
      }
      const selectedParent: bigint | undefined = current.block.selectedParent;
      const parent: Node | undefined = selectedParent === undefined ? undefined : this.#nodes.get(selectedParent);
      // Genesis or a forgotten block: its ancestors were added before it, and so before `ancestor`.
      if (parent === undefined) return false;
      current = parent;
    }
    return current === target;
  }
}

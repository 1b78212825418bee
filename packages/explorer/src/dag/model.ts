/**
 * The layout of the DAG. A block gets x when it is added: one more than the greatest x of its known
 * parents. It never moves along x. Chain blocks are on the centre line, and other blocks alternate
 * around it in the order of arrival. A chain block changes lanes with the block on the centre line
 * of its column, so only a change of the chain moves blocks between lanes.
 */
import type { ChainChange, DagBlock } from '../stream/messages.ts';

export interface Vertex {
  block: DagBlock;
  x: number;
  /** 0 is the centre line; positive lanes are below it. */
  lane: number;
}

const CENTRE = 0;

export class DagModel {
  readonly #vertices = new Map<string, Vertex>();
  /** Hashes by lane, by x. */
  readonly #columns = new Map<number, Map<number, string>>();
  #isNextAbove = true;
  #sinkHash: string | undefined;
  /** Chain blocks that reorganisations removed. */
  #removedCount = 0;

  get vertices(): ReadonlyMap<string, Vertex> {
    return this.#vertices;
  }

  /** The highest known chain block. */
  get sink(): Vertex | undefined {
    return this.#sinkHash === undefined ? undefined : this.#vertices.get(this.#sinkHash);
  }

  get removedCount(): number {
    return this.#removedCount;
  }

  /**
   * Returns the blocks that are known or descend from known ones. After a pause there may be a gap:
   * blocks without a known parent would be placed at the left edge, among older ones.
   */
  connect(blocks: readonly DagBlock[]): DagBlock[] {
    const connected = new Map<string, DagBlock>();
    const isKnown = (hash: string): boolean => this.#vertices.has(hash) || connected.has(hash);
    // Parents may come after their children, so this is repeated until it finds no more.
    for (let before = -1; before < connected.size; ) {
      before = connected.size;
      for (const block of blocks) {
        if (isKnown(block.hash) || block.parentHashes.some(isKnown)) connected.set(block.hash, block);
      }
    }
    return [...connected.values()];
  }

  /**
   * Adds blocks in any order; parents are placed before their children. Known blocks only change
   * colour.
   */
  add(blocks: readonly DagBlock[]): void {
    const pending = new Map(blocks.map((block) => [block.hash, block]));
    for (const first of blocks) {
      // An explicit stack, since the window may be a long chain of parents.
      const stack = [first];
      for (let block = stack.at(-1); block !== undefined; block = stack.at(-1)) {
        const parents = block.parentHashes.flatMap((hash) => pending.get(hash) ?? []);
        const unplaced = parents.filter(({ hash }) => !this.#vertices.has(hash));
        if (unplaced.length > 0) {
          stack.push(...unplaced);
          continue;
        }
        stack.pop();
        this.#addOne(block);
      }
    }
    this.#settle();
  }

  #addOne(block: DagBlock): void {
    const known = this.#vertices.get(block.hash);
    if (known !== undefined) {
      const wasChainBlock = known.block.isChainBlock;
      known.block = block;
      if (block.isChainBlock && !wasChainBlock) this.#moveToCentre(known);
      this.#raiseSink(block);
      return;
    }
    const x =
      Math.max(...block.parentHashes.map((hash) => this.#vertices.get(hash)?.x ?? -1), this.#leftmost() - 1) + 1;
    const vertex: Vertex = { block, x, lane: this.#findLane(x) };
    this.#vertices.set(block.hash, vertex);
    this.#columnAt(x).set(vertex.lane, block.hash);
    if (block.isChainBlock) this.#moveToCentre(vertex);
    this.#raiseSink(block);
  }

  /**
   * Moves the chain: colours, and the lanes of chain blocks. Idempotent, since the stream delivers
   * at least once.
   * @returns whether every block of the change is known
   */
  applyChain({ removed, added }: ChainChange): boolean {
    let isComplete = true;
    for (const hash of removed) {
      const vertex = this.#vertices.get(hash);
      if (vertex?.block.isChainBlock === true) {
        this.#change(vertex, { isChainBlock: false });
        this.#removedCount += 1;
      }
      for (const merged of this.#vertices.values()) {
        if (merged.block.mergingBlockHash === hash) this.#change(merged, { color: null, mergingBlockHash: null });
      }
      if (this.#sinkHash === hash) this.#sinkHash = vertex?.block.selectedParentHash ?? undefined;
    }
    for (const { hash, mergeSetBluesHashes, mergeSetRedsHashes } of added) {
      const vertex = this.#vertices.get(hash);
      if (vertex === undefined) {
        isComplete = false;
        continue;
      }
      this.#change(vertex, { isChainBlock: true });
      this.#moveToCentre(vertex);
      this.#sinkHash = hash;
      for (const [color, hashes] of [['blue', mergeSetBluesHashes] as const, ['red', mergeSetRedsHashes] as const]) {
        for (const merged of hashes.flatMap((one) => this.#vertices.get(one) ?? [])) {
          this.#change(merged, { color, mergingBlockHash: hash });
        }
      }
    }
    this.#settle();
    return isComplete;
  }

  /** Removes columns on the left, so that at most this many remain. */
  prune(maxColumns: number): void {
    const rightmost = Math.max(...this.#columns.keys());
    for (const [x, lanes] of this.#columns) {
      if (x > rightmost - maxColumns) continue;
      for (const hash of lanes.values()) this.#vertices.delete(hash);
      this.#columns.delete(x);
    }
  }

  #change(vertex: Vertex, change: Partial<DagBlock>): void {
    vertex.block = { ...vertex.block, ...change };
  }

  #raiseSink(block: DagBlock): void {
    if (!block.isChainBlock) return;
    if (Number(block.blueScore) > Number(this.sink?.block.blueScore ?? -1)) this.#sinkHash = block.hash;
  }

  #columnAt(x: number): Map<number, string> {
    const column = this.#columns.get(x) ?? new Map<number, string>();
    this.#columns.set(x, column);
    return column;
  }

  /** A block whose parents are all unknown is placed at the left edge. */
  #leftmost(): number {
    return this.#columns.size === 0 ? 0 : Math.min(...this.#columns.keys());
  }

  /**
   * Right of the sink, the first block of a column is likely to become a chain block, so it begins
   * on the centre line.
   */
  #findLane(x: number): number {
    const column = this.#columnAt(x);
    const isOpen = this.sink === undefined || x > this.sink.x;
    return isOpen && !column.has(CENTRE) ? CENTRE : this.#findSideLane(column);
  }

  #findSideLane(column: ReadonlyMap<number, string>): number {
    const first = this.#isNextAbove ? -1 : 1;
    this.#isNextAbove = !this.#isNextAbove;
    for (let distance = 1; ; distance += 1) {
      for (const lane of [first * distance, -first * distance]) if (!column.has(lane)) return lane;
    }
  }

  #moveToCentre(vertex: Vertex): void {
    const column = this.#columnAt(vertex.x);
    const occupant = this.#vertices.get(column.get(CENTRE) ?? '');
    if (occupant === vertex) return;
    column.delete(vertex.lane);
    if (occupant !== undefined) {
      occupant.lane = vertex.lane;
      column.set(vertex.lane, occupant.block.hash);
    }
    vertex.lane = CENTRE;
    column.set(CENTRE, vertex.block.hash);
  }

  /** Up to the sink, only chain blocks stay on the centre line. */
  #settle(): void {
    const { sink } = this;
    if (sink === undefined) return;
    for (const [x, column] of this.#columns) {
      const vertex = this.#vertices.get(column.get(CENTRE) ?? '');
      if (x > sink.x || vertex === undefined || vertex.block.isChainBlock) continue;
      const lane = this.#findSideLane(column);
      column.delete(CENTRE);
      column.set(lane, vertex.block.hash);
      vertex.lane = lane;
    }
  }
}

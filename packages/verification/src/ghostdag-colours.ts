/**
 * Colours of mergesets. A block is blue if no blue block has more than k blues in its anticone
 * then. The database does not have k, since a network may override it: each blue gives a lower
 * bound of k, each red an upper bound, and bounds must not contradict each other. Crescendo changed
 * k, so blocks with a selected parent before its activation have separate bounds.
 */
import type { AnticoneSizes, DagBlock, DagWindow } from './ghostdag-window.ts';

/** A late block with thousands of blues in its anticone is red for any k and gives no bound. */
const MOST_BLUES = 500;

/** The least k for which a member of a mergeset is blue. */
interface Need {
  k: number;
  affected: ReadonlyMap<bigint, number>;
  isExact: boolean;
}

interface Bound {
  k: number;
  block: string;
}

interface Bounds {
  /** k is at least this. */
  least: Bound;
  /** k is less than this. */
  limit: Bound;
}

const unbounded = (): Bounds => ({ least: { k: 0, block: '' }, limit: { k: Number.POSITIVE_INFINITY, block: '' } });

export class ColouringBounds {
  readonly #window: DagWindow;
  readonly #activationDaaScore: bigint;
  readonly #before = unbounded();
  readonly #since = unbounded();

  /**
   * @param activationDaaScore the DAA score of the selected parent at which k changed; 0 if it
   * never did
   */
  constructor(window: DagWindow, activationDaaScore: bigint) {
    this.#window = window;
    this.#activationDaaScore = activationDaaScore;
  }

  /** Returns contradictions to the colours of lower blocks. The block must be in the window. */
  add(added: DagBlock): string[] {
    const { hash, selectedParent, blues, reds } = added;
    const own: AnticoneSizes = { sizes: new Map(), isExact: selectedParent === undefined };
    added.anticoneSizes = own;
    const parent = selectedParent === undefined ? undefined : this.#window.get(selectedParent);
    if (selectedParent === undefined || parent === undefined) return [];
    const bounds = parent.daaScore < this.#activationDaaScore ? this.#before : this.#since;
    own.sizes.set(selectedParent, 0);
    const colouring = { selectedParent, blues: [selectedParent], own };
    const block = hash.toString('hex');
    const faults: string[] = [];
    const isRed = new Set(reds);
    const members = [...blues.slice(1), ...reds];
    const known = members.flatMap((member) => this.#window.get(member) ?? []);
    own.isExact = known.length === members.length;
    for (const { id: member } of known.toSorted(compareBlocks)) {
      const need = this.#needOf(member, colouring);
      if (isRed.has(member)) {
        if (need.isExact && need.k < bounds.limit.k) bounds.limit = { k: need.k, block };
        if (need.isExact && need.k <= bounds.least.k) {
          faults.push(
            `it has block ${member} red, which requires k < ${need.k}; block ${bounds.least.block} requires k >= ${bounds.least.k}`,
          );
        }
        continue;
      }
      colouring.blues.push(member);
      own.sizes.set(member, need.affected.size);
      for (const [blue, size] of need.affected) own.sizes.set(blue, size + 1);
      own.isExact &&= need.isExact;
      if (need.k > bounds.least.k) bounds.least = { k: need.k, block };
      if (need.k >= bounds.limit.k) {
        faults.push(
          `it has block ${member} blue, which requires k >= ${need.k}; block ${bounds.limit.block} requires k < ${bounds.limit.k}`,
        );
      }
    }
    return faults;
  }

  /**
   * Walks down the selected chain until a chain block is in the member's past, where all further
   * blues are, too.
   */
  #needOf(
    member: bigint,
    { selectedParent, blues, own }: { selectedParent: bigint; blues: readonly bigint[]; own: AnticoneSizes },
  ): Need {
    const affected = new Map<bigint, number>();
    let isExact = true;
    let k = blues.length;
    let chainBlock = selectedParent;
    for (let candidates = blues; ; ) {
      for (const blue of candidates) {
        const isInPast = this.#window.isInPast(blue, member);
        if (isInPast === undefined) isExact = false;
        if (isInPast !== false) continue;
        const size = this.#sizeOf(blue, selectedParent, own);
        if (size === undefined) isExact = false;
        affected.set(blue, size ?? 0);
        k = Math.max(k, affected.size, (size ?? 0) + 1);
      }
      const isBelow = this.#window.isInPast(chainBlock, member);
      if (isBelow === true) return { k, affected, isExact };
      const next = this.#window.get(chainBlock);
      if (isBelow === undefined || next?.selectedParent === undefined || affected.size > MOST_BLUES) {
        return { k, affected, isExact: false };
      }
      candidates = next.blues;
      chainBlock = next.selectedParent;
    }
  }

  /**
   * Returns the blue anticone size as the nearest block down the selected chain has it; undefined
   * if none does.
   */
  #sizeOf(blue: bigint, selectedParent: bigint, own: AnticoneSizes): number | undefined {
    let chainBlock = this.#window.get(selectedParent);
    for (let known: AnticoneSizes | undefined = own; known !== undefined; ) {
      const size = known.sizes.get(blue);
      if (size !== undefined) return known.isExact ? size : undefined;
      known = chainBlock?.anticoneSizes;
      chainBlock = chainBlock?.selectedParent === undefined ? undefined : this.#window.get(chainBlock.selectedParent);
    }
    return undefined;
  }
}

/** Compares by (blue work, hash), the order in which a node prefers, merges and accepts. */
export function compareBlocks(a: DagBlock, b: DagBlock): number {
  if (a.blueWork !== b.blueWork) return a.blueWork < b.blueWork ? -1 : 1;
  return Buffer.compare(a.hash, b.hash);
}

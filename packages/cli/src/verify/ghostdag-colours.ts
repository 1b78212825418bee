/**
 * Colours of mergesets. A block is blue while no blue block would get more than k blues into its anticone. The database does not know k: a
 * network may have its own. So each blue says that k is at least something, each red that it is less than something, and no two
 * may contradict each other. Crescendo changed k: blocks whose selected parent is older than its activation have one of their own.
 */
import type { DagBlock, DagWindow } from './ghostdag-window.ts';

/** A late block has thousands of blues in its anticone: it is red for any k, and tells nothing. */
const MOST_BLUES = 500;

/** Blues of a block's past whose blue anticone changed with its mergeset, and how many blues that has since. */
interface AnticoneSizes {
  sizes: Map<bigint, number>;
  /** False where a part of the past was not known: there may be more. */
  isExact: boolean;
}

/** The least k for which a member of a mergeset would be blue. */
interface Need {
  k: number;
  /** Of the blues in its anticone. */
  affected: ReadonlyMap<bigint, number>;
  isExact: boolean;
}

interface Bound {
  k: number;
  /** Hash of the block that says so, hex. */
  block: string;
}

/** What is known of one k. */
interface Bounds {
  /** It is this at least. */
  least: Bound;
  /** It is less than this. */
  limit: Bound;
}

const unbounded = (): Bounds => ({ least: { k: 0, block: '' }, limit: { k: Number.POSITIVE_INFINITY, block: '' } });

export class ColouringBounds {
  readonly #window: DagWindow;
  readonly #activationDaaScore: bigint;
  readonly #sizes = new Map<bigint, AnticoneSizes>();
  readonly #before = unbounded();
  readonly #since = unbounded();

  /** @param activationDaaScore from which DAA score of the selected parent on the network has another k; 0 if it always had this one */
  constructor(window: DagWindow, activationDaaScore: bigint) {
    this.#window = window;
    this.#activationDaaScore = activationDaaScore;
  }

  /** Returns what contradicts the colours of earlier blocks. The block is in the window. */
  add({ id, hash, selectedParent, blues, reds }: DagBlock): string[] {
    const own: AnticoneSizes = { sizes: new Map(), isExact: selectedParent === undefined };
    this.#sizes.set(id, own);
    const parent = selectedParent === undefined ? undefined : this.#window.get(selectedParent);
    if (selectedParent === undefined || parent === undefined) return [];
    const bounds = parent.daaScore < this.#activationDaaScore ? this.#before : this.#since;
    own.sizes.set(selectedParent, 0);
    const colouring = { selectedParent, blues: [selectedParent], own };
    const block = hash.toString('hex');
    const faults: string[] = [];
    const isRed = new Set(reds);
    const members = [...blues.slice(1), ...reds];
    own.isExact = members.every((member) => this.#window.get(member) !== undefined);
    for (const member of this.#inOrder(members)) {
      const need = this.#needOf(member, colouring);
      if (isRed.has(member)) {
        if (need.isExact && need.k < bounds.limit.k) bounds.limit = { k: need.k, block };
        if (need.isExact && need.k <= bounds.least.k) {
          faults.push(
            `it has block ${member} red, which takes a k below ${need.k}; block ${bounds.least.block} shows ${bounds.least.k} at least`,
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
          `it has block ${member} blue, which takes a k of ${need.k}; block ${bounds.limit.block} shows less than ${bounds.limit.k}`,
        );
      }
    }
    return faults;
  }

  forget({ id }: DagBlock): void {
    this.#sizes.delete(id);
  }

  /** Members that are not known have no place in the order, and are left out. */
  #inOrder(members: readonly bigint[]): bigint[] {
    const known = members.flatMap((id) => this.#window.get(id) ?? []);
    return known.toSorted(compareBlocks).map(({ id }) => id);
  }

  /** Goes down the selected chain, mergeset by mergeset, until a chain block is in the member's past: then all further blues are too. */
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

  /** How many blues a blue has in its anticone, as the nearest block down the selected chain knows it; undefined when none does. */
  #sizeOf(blue: bigint, selectedParent: bigint, own: AnticoneSizes): number | undefined {
    let known: AnticoneSizes | undefined = own;
    let chainBlock: bigint | undefined = selectedParent;
    while (known !== undefined) {
      const size = known.sizes.get(blue);
      if (size !== undefined) return known.isExact ? size : undefined;
      if (chainBlock === undefined) return undefined;
      known = this.#sizes.get(chainBlock);
      chainBlock = this.#window.get(chainBlock)?.selectedParent;
    }
    return undefined;
  }
}

/** Ascending by (blue work, hash): the order in which a node prefers, merges and accepts. */
export function compareBlocks(a: DagBlock, b: DagBlock): number {
  if (a.blueWork !== b.blueWork) return a.blueWork < b.blueWork ? -1 : 1;
  return Buffer.compare(a.hash, b.hash);
}

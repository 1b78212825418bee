/**
 * Union-find with undo (migrations/0001_schema.sql). The smaller cluster goes below the larger one;
 * of equal ones, that of the later input goes below the other. Paths are never shortened, so the
 * roots follow from the chain alone, and undoing the last merge restores the state before it.
 *
 * The members of a cluster form a ring. Swapping the next members of two roots joins two rings, or
 * splits one.
 */
import { getOrInsert } from '../state-changes.ts';

export interface Cluster {
  root: bigint;
  size: bigint;
  balance: bigint;
  /** Set by an operator; null for the configured one. */
  sizeLimit: bigint | null;
  /** The neighbours of the root in the ring. */
  next: bigint;
  previous: bigint;
}

/** Inputs of one transaction that have one owner. */
export interface Tie {
  chainIndex: bigint;
  transaction: bigint;
  /** In the order of the inputs, each once. */
  scripts: readonly bigint[];
  heldMerge?: bigint;
}

export interface Merge {
  id: bigint;
  chainIndex: bigint;
  transaction: bigint;
  cluster: bigint;
  mergedCluster: bigint;
  script: bigint;
  mergedScript: bigint;
  heldMerge: bigint | undefined;
  sizeLimit: bigint | null;
  mergedSizeLimit: bigint | null;
  /**
   * The range of the ring that moved: from this member to the root `mergedCluster`, which is before
   * `ringEnd`.
   */
  ringStart: bigint;
  ringEnd: bigint;
}

/** A transaction ties two clusters that would be too large together. */
export interface HeldMerge {
  chainIndex: bigint;
  transaction: bigint;
  script: bigint;
  otherScript: bigint;
  /** The roots of their clusters, the smaller one first. */
  cluster: bigint;
  otherCluster: bigint;
}

export interface ForestOptions {
  roots: ReadonlyMap<bigint, bigint>;
  clusters: readonly Cluster[];
  /** Balances of scripts outside of clusters, sompi. */
  balances: ReadonlyMap<bigint, bigint>;
  sizeLimit: bigint;
  nextMergeId: bigint;
}

export class Forest {
  readonly merges: Merge[] = [];
  readonly held: HeldMerge[] = [];
  /** Held merges that are done, or whose scripts are in one cluster now. */
  readonly settled: bigint[] = [];
  /** Approved merges that would still make a cluster too large. */
  readonly heldAgain: bigint[] = [];
  nextMergeId: bigint;
  readonly #options: ForestOptions;
  readonly #clusters: Map<bigint, Cluster>;
  readonly #existing: ReadonlySet<bigint>;
  /** Roots that this step merged into others. */
  readonly #below = new Map<bigint, { parent: bigint; merge: bigint }>();
  readonly #changed = new Set<bigint>();
  readonly #previous = new Map<bigint, bigint>();

  constructor(options: ForestOptions) {
    this.#options = options;
    this.#clusters = new Map(options.clusters.map((cluster) => [cluster.root, { ...cluster }]));
    this.#existing = new Set(this.#clusters.keys());
    this.nextMergeId = options.nextMergeId;
  }

  /** Merges the clusters of the scripts; holds merges that would make a cluster too large. */
  tie({ chainIndex, transaction, scripts, heldMerge }: Tie): void {
    /** One script of each cluster that remains separate. */
    const apart: bigint[] = [];
    for (const script of scripts) {
      const joined = apart.some((earlier) => this.#join({ chainIndex, transaction, heldMerge }, earlier, script));
      if (!joined) apart.push(script);
      else if (heldMerge !== undefined) this.settled.push(heldMerge);
    }
    if (apart.length < 2) return;
    if (heldMerge === undefined) this.#hold({ chainIndex, transaction }, apart);
    else this.heldAgain.push(heldMerge);
  }

  /**
   * Holds one merge of each cluster with the largest, which ties them all as every combination
   * would.
   */
  #hold(why: Pick<HeldMerge, 'chainIndex' | 'transaction'>, apart: readonly bigint[]): void {
    const clusters = apart.map((script) => ({ script, ...this.#get(this.find(script)) }));
    const largest = clusters.reduce((largest, cluster) => (cluster.size > largest.size ? cluster : largest));
    for (const { script, root } of clusters) {
      if (root === largest.root) continue;
      const [cluster, otherCluster] = root < largest.root ? [root, largest.root] : [largest.root, root];
      this.held.push({ ...why, script: largest.script, otherScript: script, cluster, otherCluster });
    }
  }

  find(script: bigint): bigint {
    let root = this.#options.roots.get(script) ?? script;
    for (let up = this.#below.get(root); up !== undefined; up = this.#below.get(root)) root = up.parent;
    return root;
  }

  /** Returns the rows of scripts that became or stopped being roots, or whose ring changed. */
  memberRows() {
    return [...this.#changed].map((script) => {
      const { next, previous } = this.#get(script);
      return { script, ...this.#below.get(script), next, previous: this.#previous.get(script) ?? previous };
    });
  }

  /** The new previous members of scripts that are not in memberRows. */
  previousOfOthers(): Map<bigint, bigint> {
    return new Map([...this.#previous].filter(([script]) => !this.#changed.has(script)));
  }

  newMembers(): bigint[] {
    return [...this.#changed].filter((script) => !this.#existing.has(script));
  }

  grown(): Cluster[] {
    return [...this.#changed].filter((script) => !this.#below.has(script)).map((script) => this.#get(script));
  }

  gone(): bigint[] {
    return [...this.#below.keys()].filter((script) => this.#existing.has(script));
  }

  /** Returns false if the merge would make a cluster larger than its limit. */
  #join(why: Pick<Merge, 'chainIndex' | 'transaction' | 'heldMerge'>, script: bigint, other: bigint): boolean {
    const [first, second] = [this.#get(this.find(script)), this.#get(this.find(other))];
    if (first === second) return true;
    const sizeLimit = largest(first.sizeLimit, second.sizeLimit);
    if (first.size + second.size > (largest(sizeLimit, this.#options.sizeLimit) ?? 0n)) return false;
    const firstStays = first.size >= second.size;
    const [stays, goes] = firstStays ? [first, second] : [second, first];
    const id = this.nextMergeId;
    this.nextMergeId += 1n;
    this.merges.push({
      ...why,
      id,
      cluster: stays.root,
      mergedCluster: goes.root,
      script: firstStays ? script : other,
      mergedScript: firstStays ? other : script,
      sizeLimit: stays.sizeLimit,
      mergedSizeLimit: goes.sizeLimit,
      ringStart: goes.next,
      ringEnd: stays.next,
    });
    stays.sizeLimit = sizeLimit;
    stays.size += goes.size;
    stays.balance += goes.balance;
    this.#below.set(goes.root, { parent: stays.root, merge: id });
    swapNext(stays, goes, this.#previous);
    this.#changed.add(stays.root).add(goes.root);
    return true;
  }

  #get(root: bigint): Cluster {
    return getOrInsert(this.#clusters, root, () => {
      const balance = this.#options.balances.get(root) ?? 0n;
      return { root, size: 1n, balance, sizeLimit: null, next: root, previous: root };
    });
  }
}

/** A limit that an operator set counts only above the configured one. */
function largest(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

type Root = Pick<Cluster, 'root' | 'next'>;

function swapNext(one: Root, other: Root, previous: Map<bigint, bigint>): void {
  [one.next, other.next] = [other.next, one.next];
  previous.set(one.next, one.root);
  previous.set(other.next, other.root);
}

export type UndoableMerge = Pick<Merge, 'id' | 'cluster' | 'mergedCluster' | 'sizeLimit' | 'mergedSizeLimit'>;

/**
 * @param merges contiguous, the latest first
 * @param nextOf the next member of each of their roots
 * @param limitOf the operator's limits
 */
export function undoMerges(
  merges: readonly UndoableMerge[],
  nextOf: ReadonlyMap<bigint, bigint>,
  limitOf: ReadonlyMap<bigint, bigint | null>,
) {
  const roots = new Map<bigint, Root>();
  /** The previous member of each script whose neighbour changed. */
  const previous = new Map<bigint, bigint>();
  /** The former cluster of each cluster that was split off. */
  const splitFrom = new Map<bigint, bigint>();
  const sizeLimits = new Map(limitOf);
  const get = (script: bigint): Root =>
    getOrInsert(roots, script, (root) => {
      const next = nextOf.get(root);
      if (next === undefined) throw new Error(`script ${root}, which was merged, is in no cluster`);
      return { root, next };
    });
  for (const { cluster, mergedCluster, sizeLimit, mergedSizeLimit } of merges) {
    swapNext(get(cluster), get(mergedCluster), previous);
    splitFrom.set(mergedCluster, splitFrom.get(cluster) ?? cluster);
    const limit = sizeLimits.get(cluster) ?? null;
    // A limit that was set later applies to the larger cluster, and stays with its root.
    sizeLimits.set(cluster, limit === largest(sizeLimit, mergedSizeLimit) ? sizeLimit : limit);
    sizeLimits.set(mergedCluster, mergedSizeLimit);
  }
  return { roots: [...roots.values()], previous, splitFrom, sizeLimits };
}

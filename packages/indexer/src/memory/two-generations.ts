/**
 * A bounded cache: a full young generation becomes the old one, which is dropped. Entries that are
 * used, or set since the last `evict`, stay.
 */

interface Entries<K, V> {
  readonly size: number;
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export class TwoGenerations<K, V> {
  /** Whether an entry was evicted, so that a missing key may exist in Postgres. */
  forgot = false;
  readonly #create: () => Entries<K, V>;
  readonly #maxYoung: number;
  #young: Entries<K, V>;
  #old: Entries<K, V>;

  constructor(create: () => Entries<K, V>, maxSize: number) {
    this.#create = create;
    this.#maxYoung = Math.ceil(maxSize / 2);
    this.#young = create();
    this.#old = create();
  }

  /** The number of entries, some of which may be in both generations. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    // Before the first eviction, a move would only fill the young generation with copies.
    if (old !== undefined && this.forgot) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
  }

  evict(): void {
    if (this.#young.size <= this.#maxYoung) return;
    this.forgot ||= this.#old.size > 0;
    this.#old = this.#young;
    this.#young = this.#create();
  }
}

/** A map whose `size` is the sum of its entries' weights. */
export class WeightedMap<K, V> {
  size = 0;
  readonly #entries = new Map<K, V>();
  readonly #weigh: (key: K, value: V) => number;

  constructor(weigh: (key: K, value: V) => number) {
    this.#weigh = weigh;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    const replaced = this.#entries.get(key);
    this.size += this.#weigh(key, value) - (replaced === undefined ? 0 : this.#weigh(key, replaced));
    this.#entries.set(key, value);
  }
}

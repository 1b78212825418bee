/**
 * A bounded memory out of unbounded maps: a full young generation becomes the old one, and the old one is forgotten. From
 * the first forgetting on, what is used moves back to the young one, so what is in use stays. Costs no list and no clock,
 * unlike an LRU. It forgets only when it is told that it may: what was set since the time before is always kept.
 */
interface Entries<K, V> {
  /** How much of the bound they take. */
  readonly size: number;
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export class TwoGenerations<K, V> {
  /** Whether something was forgotten: then a key that is not here may still exist elsewhere. */
  forgot = false;
  readonly #create: () => Entries<K, V>;
  readonly #maxYoung: number;
  #young: Entries<K, V>;
  #old: Entries<K, V>;

  /** @param maxSize bound on both generations together, but for what is set between two times that it may forget */
  constructor(create: () => Entries<K, V>, maxSize: number) {
    this.#create = create;
    this.#maxYoung = Math.ceil(maxSize / 2);
    this.#young = create();
    this.#old = create();
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    // While nothing was forgotten, moving would only fill the young generation with what is here already.
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

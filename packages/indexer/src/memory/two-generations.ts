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

/** Room for the script of any address: those have 35 bytes at most. */
const USUAL_SCRIPT_BYTES = 40;

export class ScriptIndex {
  /** In usual scripts. */
  size = 0;
  readonly #keys = new Map<string, number>();

  get(name: string): number | undefined {
    return this.#keys.get(name);
  }

  set(name: string, key: number): void {
    const before = this.#keys.size;
    this.#keys.set(name, key);
    if (this.#keys.size > before) this.size += Math.max(1, Math.ceil(name.length / USUAL_SCRIPT_BYTES));
  }
}

export class VariantIndex {
  readonly #hashes = new Map<number, readonly Uint8Array[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: number): readonly Uint8Array[] | undefined {
    return this.#hashes.get(key);
  }

  set(key: number, hashes: readonly Uint8Array[]): void {
    // The transaction counts as one more, since knowing that it has none takes memory too.
    this.#size += hashes.length - (this.#hashes.get(key)?.length ?? -1);
    this.#hashes.set(key, hashes);
  }
}

/** Hashes of the second and further variants of transactions, by transaction key. Its size is the number of hashes. */
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

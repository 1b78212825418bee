const INITIAL_BYTES = 2 ** 13;

/** Keys of rows, in a bit for each key up to the highest one. */
export class KeySet {
  #bits = new Uint8Array(INITIAL_BYTES);

  add(key: number): void {
    const at = Math.floor(key / 8);
    if (at >= this.#bits.length) this.#grow(at);
    (this.#bits[at] as number) |= 1 << (key % 8);
  }

  /** Yields the keys in ascending order, at most this many at once. */
  *pages(length: number): Generator<number[]> {
    let page: number[] = [];
    for (const key of this.#keys()) {
      page.push(key);
      if (page.length < length) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  *#keys(): Generator<number> {
    for (const [at, bits] of this.#bits.entries()) {
      for (let bit = 0; bits >> bit !== 0; bit += 1) {
        if (((bits >> bit) & 1) === 1) yield 8 * at + bit;
      }
    }
  }

  #grow(at: number): void {
    let bytes = this.#bits.length;
    while (bytes <= at) bytes *= 2;
    const bits = new Uint8Array(bytes);
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

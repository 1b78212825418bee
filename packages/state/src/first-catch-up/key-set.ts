const KEYS_PER_CHUNK = 2 ** 16;

/**
 * Keys of rows, in a bit for each key near others. Each generation begins far above the one before
 * it.
 */
export class KeySet {
  readonly #chunks = new Map<number, Uint8Array>();

  add(key: number): void {
    const number = Math.floor(key / KEYS_PER_CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = new Uint8Array(KEYS_PER_CHUNK / 8);
      this.#chunks.set(number, chunk);
    }
    const bit = key % KEYS_PER_CHUNK;
    (chunk[bit >> 3] as number) |= 1 << (bit & 7);
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
    const chunks = [...this.#chunks].sort(([one], [other]) => one - other);
    for (const [number, chunk] of chunks) {
      for (const [at, bits] of chunk.entries()) {
        for (let bit = 0; bits >> bit !== 0; bit += 1) {
          if (((bits >> bit) & 1) === 1) yield number * KEYS_PER_CHUNK + 8 * at + bit;
        }
      }
    }
  }
}

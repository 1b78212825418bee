const SEPARATOR = '\n';

/**
 * Pairs of a text and a 64-bit number, which the garbage collector sees as one string and one
 * array.
 */
export class PackedPairs {
  static readonly none = new PackedPairs([]);
  readonly length: number;
  readonly #texts: string;
  readonly #numbers: BigUint64Array;

  /** Omits pairs whose text has a line break, which no address and no id has. */
  static of(pairs: readonly (readonly [text: string, number: bigint])[]): PackedPairs {
    const kept = pairs.filter(([text]) => !text.includes(SEPARATOR));
    return kept.length === 0 ? PackedPairs.none : new PackedPairs(kept);
  }

  private constructor(pairs: readonly (readonly [text: string, number: bigint])[]) {
    this.length = pairs.length;
    this.#texts = pairs.map(([text]) => text).join(SEPARATOR);
    this.#numbers = BigUint64Array.from(pairs, ([, number]) => number);
  }

  forEach(handle: (text: string, number: bigint) => void): void {
    if (this.length === 0) return;
    for (const [at, text] of this.#texts.split(SEPARATOR).entries()) handle(text, this.#numbers[at] as bigint);
  }
}

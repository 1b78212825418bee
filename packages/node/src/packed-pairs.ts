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

  /** A text with a line break, which no address and no id has, is replaced by an empty one. */
  static of(pairs: readonly (readonly [text: string, number: bigint])[]): PackedPairs {
    if (pairs.length === 0) return PackedPairs.none;
    return new PackedPairs(pairs.map(([text, number]) => [text.includes(SEPARATOR) ? '' : text, number]));
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

/**
 * Random choices from a seed: the same seed makes the same owners, payments and block widths. (Block hashes still differ
 * from run to run, since blocks carry the time.)
 */
import { createHash } from 'node:crypto';

export class Random {
  #state: [number, number, number, number];

  constructor(seed: string) {
    const digest = createHash('sha256').update(seed).digest();
    this.#state = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12)];
    for (let round = 0; round < 12; round += 1) this.#next();
  }

  /** At least 0, less than 1. */
  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  /** From 0 up to, excluding, `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('nothing to pick from');
    return choice;
  }

  /** The index of one of `weights`, each as likely as it weighs. */
  weighted(weights: readonly number[]): number {
    let left = this.fraction() * weights.reduce((sum, weight) => sum + weight, 0);
    const index = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return index < 0 ? weights.length - 1 : index;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }

  /** Any unsigned 64-bit number. */
  uint64(): bigint {
    return (BigInt(this.#next()) << 32n) | BigInt(this.#next());
  }

  /** "Small fast counter", 32 bits at a time (C. Doty-Humphrey). */
  #next(): number {
    let [a, b, c, counter] = this.#state;
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result;
    this.#state = [a, b, c | 0, counter];
    return result >>> 0;
  }
}

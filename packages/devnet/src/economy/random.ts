import { hash } from 'node:crypto';

export type Label = string | number;

/**
 * Random numbers from labels, which separate what is drawn for one purpose from all others. The
 * generator is sfc32 of PractRand.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter: number;

  constructor(...labels: readonly Label[]) {
    const seed = digest(labels);
    this.a = seed.readInt32LE(0);
    this.b = seed.readInt32LE(4);
    this.c = seed.readInt32LE(8);
    this.counter = seed.readInt32LE(12);
  }

  /** 32 bits. */
  private next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** At least 0 and less than 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** Both limits are included. */
  between(least: number, greatest: number): number {
    return least + this.below(greatest - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Throws on an empty list. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Returns the index of one of `weights`, each as likely as it weighs. */
  weighted(weights: readonly number[]): number {
    let left = this.fraction() * weights.reduce((sum, weight) => sum + weight, 0);
    const index = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return index < 0 ? weights.length - 1 : index;
  }

  /** The number of independent events with this mean. */
  poisson(mean: number): number {
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.fraction(); product > limit; product *= this.fraction()) count += 1;
    return count;
  }

  /** An index below the limit, by Zipf's law: rank times frequency is constant. */
  skewed(limit: number): number {
    return Math.min(Math.floor((limit + 1) ** this.fraction()) - 1, limit - 1);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  uint64(): bigint {
    return (BigInt(this.next()) << 32n) | BigInt(this.next());
  }
}

export function digest(labels: readonly Label[]): Buffer {
  return hash('sha256', labels.join('/'), 'buffer');
}

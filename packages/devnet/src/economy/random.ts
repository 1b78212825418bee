/**
 * Random numbers that a seed determines. Each matter has a generator of its own, named by labels, so that what is drawn for one thing does
 * not depend on what was drawn for another before.
 */
import { hash } from 'node:crypto';

export type Label = string | number;

export class Random {
  /** State of sfc32, a small fast counting generator of PractRand's author. */
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

  /** From 0 up to, but not, 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  /** A whole number from 0 up to, but not, the limit. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** A whole number between two, both possible. */
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

  /** How often something happens that happens independently, so many times in the mean. */
  poisson(mean: number): number {
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.fraction(); product > limit; product *= this.fraction()) count += 1;
    return count;
  }

  /** A place in a list where early ones are by far the most likely: rank times frequency is constant (Zipf). */
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

/** 32 bytes that depend on all labels. */
export function digest(labels: readonly Label[]): Buffer {
  return hash('sha256', labels.join('/'), 'buffer');
}

/**
 * Maps 32-byte hashes to numbers without an object per entry (44 to 88 bytes each). Slots depend on
 * a secret, so no sender can make hashes collide.
 */
import { randomInt } from 'node:crypto';

const HASH_BYTES = 32;
const EMPTY = -1;
const INITIAL_CAPACITY = 1024;
const MAX_LOAD = 0.6;
const SEED = randomInt(2 ** 31) | 1;

export class HashIndex {
  size = 0;
  #keys = new Uint8Array(INITIAL_CAPACITY * HASH_BYTES);
  #values = new Float64Array(INITIAL_CAPACITY).fill(EMPTY);

  get(hash: Uint8Array): number | undefined {
    const value = this.#values[this.#slot(hash)] as number;
    return value === EMPTY ? undefined : value;
  }

  set(hash: Uint8Array, value: number): void {
    if (this.size >= this.#values.length * MAX_LOAD) this.#grow();
    const slot = this.#slot(hash);
    if (this.#values[slot] === EMPTY) {
      this.#keys.set(hash, slot * HASH_BYTES);
      this.size += 1;
    }
    this.#values[slot] = value;
  }

  #slot(hash: Uint8Array): number {
    const mask = this.#values.length - 1;
    for (let slot = firstSlot(hash) & mask; ; slot = (slot + 1) & mask) {
      if (this.#values[slot] === EMPTY || this.#equals(slot, hash)) return slot;
    }
  }

  #equals(slot: number, hash: Uint8Array): boolean {
    const at = slot * HASH_BYTES;
    for (let i = 0; i < HASH_BYTES; i += 1) if (this.#keys[at + i] !== hash[i]) return false;
    return true;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Uint8Array(keys.length * 2);
    this.#values = new Float64Array(values.length * 2).fill(EMPTY);
    this.size = 0;
    for (let slot = 0; slot < values.length; slot += 1) {
      const value = values[slot] as number;
      if (value !== EMPTY) this.set(keys.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES), value);
    }
  }
}

function firstSlot(hash: Uint8Array): number {
  const first = word(hash, 0) ^ SEED;
  const mixed = Math.imul(first ^ (first >>> 15), SEED) ^ word(hash, 8);
  return Math.imul(mixed ^ (mixed >>> 13), 0x9e3779b1) >>> 7;
}

function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

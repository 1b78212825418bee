/**
 * Buffers for pages that wait, used again and again: a new one for each page would make the collector walk the whole heap every
 * few pages.
 */
const STEP_BYTES = 4 * 1024 * 1024;
/** A buffer larger than this is not kept for another page. */
const KEPT_BYTES = 32 * 1024 * 1024;

export class PageBuffers {
  readonly #count: number;
  #free: Buffer[] = [];

  /** @param count how many to keep */
  constructor(count: number) {
    this.#count = count;
  }

  /** A copy in a buffer of its own, until that is given back. */
  copy(bytes: Uint8Array): Uint8Array {
    const place = this.#free.findIndex(({ length }) => length >= bytes.length);
    const found = place < 0 ? undefined : this.#free.splice(place, 1)[0];
    const buffer = found ?? Buffer.allocUnsafeSlow(Math.ceil(Math.max(bytes.length, 1) / STEP_BYTES) * STEP_BYTES);
    buffer.set(bytes);
    return buffer.subarray(0, bytes.length);
  }

  /** What was copied is gone from now on. */
  giveBack(copy: Uint8Array): void {
    const buffer = Buffer.from(copy.buffer);
    if (buffer.length > KEPT_BYTES) return;
    // The largest are kept: they do for all.
    this.#free = [...this.#free, buffer].sort((a, b) => b.length - a.length).slice(0, this.#count);
  }
}

/**
 * Limits log lines that others can cause as often as they like. It counts the lines that it leaves
 * out.
 */
export class LineLimit {
  readonly #maxPerSecond: number;
  #since = Number.NEGATIVE_INFINITY;
  #lines = 0;

  constructor(maxPerSecond: number) {
    this.#maxPerSecond = maxPerSecond;
  }

  /**
   * Counts a line, and returns whether it may be written.
   * @param onOmitted receives how many were not written before this one
   */
  admit(onOmitted: (omitted: number) => void): boolean {
    const now = performance.now();
    if (now - this.#since >= 1000) {
      const omitted = this.#lines - this.#maxPerSecond;
      this.#since = now;
      this.#lines = 0;
      if (omitted > 0) onOmitted(omitted);
    }
    this.#lines += 1;
    return this.#lines <= this.#maxPerSecond;
  }
}

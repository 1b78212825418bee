/** A bound on how often a node may do something: a number at once, and a rate in the long run. */
export class Allowance {
  readonly #most: number;
  readonly #perMs: number;
  #left: number;
  #at: number;

  constructor(most: number, perSecond: number, now = performance.now()) {
    this.#most = most;
    this.#perMs = perSecond / 1_000;
    this.#left = most;
    this.#at = now;
  }

  /** Returns false if nothing is left. */
  take(now = performance.now()): boolean {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * A result that many ask for. It is read once at a time. A few reads in a row are made for whoever asks; beyond that there is one for each
 * `lifeMs`, and the last result for everybody else, which is no older than that.
 */
export class SharedRead<T> {
  readonly #lifeMs: number;
  readonly #burstMs: number;
  /** When the next read would be due if they came evenly. */
  #nextAt = 0;
  #running: Promise<T> | undefined;
  #last: Promise<T> | undefined;

  constructor({ lifeMs, burst }: { lifeMs: number; burst: number }) {
    this.#lifeMs = lifeMs;
    this.#burstMs = burst * lifeMs;
  }

  get(read: () => Promise<T>): Promise<T> {
    if (this.#running !== undefined) return this.#running;
    const now = performance.now();
    const dueAt = Math.max(this.#nextAt, now);
    if (this.#last !== undefined && dueAt - now > this.#burstMs) return this.#last;
    // Reads that failed must not postpone the ones after the outage: the last result would be served long after its life.
    this.#nextAt = Math.min(dueAt, now + this.#burstMs) + this.#lifeMs;
    const running = read();
    this.#running = running;
    const settle = (result: Promise<T> | undefined) => (): void => {
      this.#running = undefined;
      // A failure is not kept.
      this.#last = result;
    };
    running.then(settle(running), settle(undefined));
    return running;
  }

  /** Reads again for the next who asks: what was read does not hold any longer. */
  forget(): void {
    this.#last = undefined;
  }
}

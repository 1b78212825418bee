/**
 * Shares the result of a read among many requests. One read runs at a time. After a burst of reads there is one every `lifeMs`, and other requests
 * get the latest result.
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
    // The limit keeps failed reads from postponing those after an outage, which would serve the latest result for too long.
    this.#nextAt = Math.min(dueAt, now + this.#burstMs) + this.#lifeMs;
    const running = read();
    this.#running = running;
    const settle = (result: Promise<T> | undefined) => (): void => {
      this.#running = undefined;
      this.#last = result;
    };
    // A failure is not kept.
    running.then(settle(running), settle(undefined));
    return running;
  }

  forget(): void {
    this.#last = undefined;
  }
}

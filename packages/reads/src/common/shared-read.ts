/**
 * Shares the result of a read among many requests. One read runs at a time. After a burst of reads
 * there is one every `lifeMs`, and other requests get the latest result. With `keepMs`, a result is
 * forgotten this long after it was read or requested last.
 */
export class SharedRead<T> {
  readonly #lifeMs: number;
  readonly #burstMs: number;
  readonly #keepMs: number | undefined;
  /** When the next read would be due if they came evenly. */
  #nextAt = 0;
  #running: Promise<T> | undefined;
  #last: Promise<T> | undefined;
  #forgetting: NodeJS.Timeout | undefined;

  constructor({ lifeMs, burst, keepMs }: { lifeMs: number; burst: number; keepMs?: number }) {
    this.#lifeMs = lifeMs;
    this.#burstMs = burst * lifeMs;
    this.#keepMs = keepMs;
  }

  get(read: () => Promise<T>): Promise<T> {
    if (this.#running !== undefined) return this.#running;
    const now = performance.now();
    const dueAt = Math.max(this.#nextAt, now);
    if (this.#last !== undefined && dueAt - now > this.#burstMs) {
      this.#keep(this.#last);
      return this.#last;
    }
    // The limit keeps failed reads from postponing those after an outage, which would serve the
    // latest result for too long.
    this.#nextAt = Math.min(dueAt, now + this.#burstMs) + this.#lifeMs;
    const running = read();
    this.#running = running;
    const settle = (result: Promise<T> | undefined) => (): void => {
      this.#running = undefined;
      this.#keep(result);
    };
    // A failure is not kept.
    running.then(settle(running), settle(undefined));
    return running;
  }

  forget(): void {
    this.#keep(undefined);
  }

  #keep(result: Promise<T> | undefined): void {
    this.#last = result;
    clearTimeout(this.#forgetting);
    if (result !== undefined && this.#keepMs !== undefined) {
      this.#forgetting = setTimeout(() => this.forget(), this.#keepMs).unref();
    }
  }
}

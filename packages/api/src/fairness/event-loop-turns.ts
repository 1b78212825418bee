/**
 * Shares the one thread among callers. Computation of more than a few milliseconds runs in slices, at most one in each turn of the event loop,
 * and callers take turns: a small request waits for one slice at each of its steps, and not for all slices of large requests.
 */
const SLICE_MS = 4;

export class EventLoopTurns {
  /** Callers in the order of their turns. */
  readonly #pending = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Resolves in a turn of the event loop that no other slice has. */
  next(caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const pending = this.#pending.get(caller);
    if (pending === undefined) this.#pending.set(caller, [resolve]);
    else pending.push(resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const [[caller, pending] = ['', []]] = this.#pending;
      pending.shift()?.();
      // Adding the caller again moves it to the end of the round.
      this.#pending.delete(caller);
      if (pending.length > 0) this.#pending.set(caller, pending);
      if (this.#pending.size > 0) this.#schedule();
    });
  }
}

export class Slices {
  readonly #turns: EventLoopTurns;
  readonly #caller: string;
  /** Of the current slice; undefined before the first one. */
  #endsAt: number | undefined;

  constructor(turns: EventLoopTurns, caller: string) {
    this.#turns = turns;
    this.#caller = caller;
  }

  async map<T, U>(items: Iterable<T>, toResult: (item: T) => U): Promise<U[]> {
    const results: U[] = [];
    await this.forEach(items, (item) => results.push(toResult(item)));
    return results;
  }

  /** Only a slice that has been used up is waited for, so that small computations do not wait, also if they come in many pieces. */
  async forEach<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void> {
    for (const item of items) {
      if (performance.now() > (this.#endsAt ?? 0)) {
        if (this.#endsAt !== undefined) await this.#turns.next(this.#caller);
        this.#endsAt = performance.now() + SLICE_MS;
      }
      handle(item);
    }
  }
}

/**
 * Shares the one thread among callers. Computation of more than a few milliseconds runs in slices, at most one in each turn of the event loop,
 * and callers take turns: a small request waits for one slice at each of its steps, and not for all slices of large requests.
 */
import { LeastServed } from './least-served.ts';

const SLICE_MS = 4;
/** Of the time since the turn before: a turn is long if there is much else to do, or other programs use the processor. */
const SLICE_SHARE = 1 / 4;
const MAX_SLICE_MS = 25;

export class EventLoopTurns {
  readonly #pending = new LeastServed<(sliceMs: number) => void>();
  #isScheduled = false;

  /** Resolves in a turn of the event loop that no other slice has, with the length of the slice in milliseconds. */
  next(caller: string): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#pending.add(caller, resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const scheduledAt = performance.now();
    setImmediate(() => {
      this.#isScheduled = false;
      const turnMs = performance.now() - scheduledAt;
      this.#pending.take()?.(Math.min(Math.max(turnMs * SLICE_SHARE, SLICE_MS), MAX_SLICE_MS));
      if (!this.#pending.isEmpty) this.#schedule();
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
        const sliceMs = this.#endsAt === undefined ? SLICE_MS : await this.#turns.next(this.#caller);
        this.#endsAt = performance.now() + sliceMs;
      }
      handle(item);
    }
  }
}

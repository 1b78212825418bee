/**
 * Shares the one thread among callers. Computation of more than a few milliseconds runs in slices,
 * for a share of each turn of the event loop, and callers take turns: a small request waits for few
 * slices at each of its steps, and not for all slices of large requests.
 */
import { LeastServed } from './least-served.ts';
import { TurnShare } from './turn-share.ts';

const SLICE_MS = 4;
const SHARE = 1 / 4;
const MAX_MS = 25;

export class EventLoopTurns {
  readonly #pending = new LeastServed<() => void>();
  readonly #share = new TurnShare({ share: SHARE, minMs: SLICE_MS, maxMs: MAX_MS, runNext: () => this.#grant() });

  /** Resolves when it is the turn of the caller. */
  next(caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending.add(caller, resolve);
    this.#share.schedule();
    return promise;
  }

  #grant(): boolean {
    this.#pending.take()?.();
    return !this.#pending.isEmpty;
  }
}

export class Slices {
  readonly #turns: EventLoopTurns;
  readonly #caller: string;
  /** When the current slice ends; undefined before the first one. */
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

  /**
   * Only a slice that has been used up is waited for, so that small computations do not wait, also
   * if they come in many pieces.
   */
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

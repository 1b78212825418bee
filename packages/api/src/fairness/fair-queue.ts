/**
 * Decides which caller uses a limited resource next: connections to the database, streams to the node, the time for large bodies. The caller
 * that was served least is next, however many tasks the others have. No caller holds more than half of the slots, so that another one finds a
 * free slot at once.
 */
import { PoolExhaustedError } from '@kasgres/database';

interface Pending {
  start: () => void;
  drop: () => void;
}

interface Caller {
  running: number;
  /** Milliseconds that its tasks have taken. A new caller starts at the level of the others. */
  served: number;
  pending: Set<Pending>;
}

export interface FairQueueOptions {
  slots: number;
  /** Beyond this number of pending tasks, the caller with most of them loses its latest. */
  maxWaiting: number;
  maxWaitMs: number;
  /** Makes the error of a task that cannot wait, or has waited for too long. */
  busy?: () => Error;
}

export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  readonly #slotsPerCaller: number;
  readonly #callers = new Map<string, Caller>();
  #running = 0;
  #pending = 0;
  /** `served` of the caller whose task was started last. */
  #served = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { busy: () => new PoolExhaustedError(), ...options };
    this.#slotsPerCaller = Math.max(Math.floor(options.slots / 2), 1);
  }

  get waiting(): number {
    return this.#pending;
  }

  /** Runs a task when it is the caller's turn. @throws the error of `busy` if too many tasks are pending, or this one has waited for too long */
  run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const caller = this.#callers.get(name) ?? { running: 0, served: this.#served, pending: new Set() };
    this.#callers.set(name, caller);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const leave = (): void => {
      clearTimeout(timer);
      caller.pending.delete(pending);
      this.#pending -= 1;
    };
    const pending: Pending = {
      start: () => {
        leave();
        resolve(this.#execute(name, caller, task));
      },
      drop: () => {
        leave();
        this.#forgetIfIdle(name, caller);
        reject(this.#options.busy());
      },
    };
    const timer = setTimeout(pending.drop, this.#options.maxWaitMs);
    caller.pending.add(pending);
    this.#pending += 1;
    this.#startNext();
    if (this.#pending > this.#options.maxWaiting) this.#dropLatest();
    return promise;
  }

  async #execute<T>(name: string, caller: Caller, task: () => Promise<T>): Promise<T> {
    this.#served = Math.max(this.#served, caller.served);
    caller.running += 1;
    this.#running += 1;
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      caller.served += performance.now() - startedAt;
      caller.running -= 1;
      this.#running -= 1;
      this.#startNext();
      this.#forgetIfIdle(name, caller);
    }
  }

  /** An idle caller that stayed would keep its low `served`, and overtake all others the next time. */
  #forgetIfIdle(name: string, { running, pending }: Caller): void {
    if (running === 0 && pending.size === 0) this.#callers.delete(name);
  }

  #dropLatest(): void {
    const [longest] = [...this.#callers.values()].toSorted((left, right) => right.pending.size - left.pending.size);
    [...(longest?.pending ?? [])].at(-1)?.drop();
  }

  #startNext(): void {
    while (this.#running < this.#options.slots && this.#pending > 0) {
      let next: Caller | undefined;
      for (const caller of this.#callers.values()) {
        if (caller.pending.size === 0 || caller.running >= this.#slotsPerCaller) continue;
        if (next === undefined || caller.served < next.served) next = caller;
      }
      const [first] = next?.pending ?? [];
      if (first === undefined) return;
      first.start();
    }
  }
}

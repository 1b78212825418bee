/**
 * Decides which caller uses a limited resource next: connections to the database, streams to the node, the time for large bodies. Callers
 * take turns by the time that their work has taken: the one that was served least is next, whatever the others have waiting. No caller
 * holds more than half of the places, so that another one finds a free place at once.
 */
import { PoolExhaustedError } from '@kasgres/database';

interface Waiting {
  start: () => void;
  reject: (error: Error) => void;
}

interface Caller {
  running: number;
  /** Milliseconds that its reads have taken, from at least where the others were when it came. */
  served: number;
  waiting: Set<Waiting>;
}

export interface FairQueueOptions {
  /** Reads that run at once. */
  places: number;
  /** Reads that may wait. Beyond that the caller with most of them loses its latest. */
  maxWaiting: number;
  /** A read that has waited so long fails. */
  maxWaitMs: number;
  /** The error of a read that cannot wait, or has waited for too long. By default that of the database. */
  busy?: () => Error;
}

export class FairQueue {
  readonly #places: number;
  readonly #placesOfOne: number;
  readonly #maxWaiting: number;
  readonly #maxWaitMs: number;
  readonly #busy: () => Error;
  /** Those with a read that runs or waits. */
  readonly #callers = new Map<string, Caller>();
  #running = 0;
  #waiting = 0;
  /** What the caller had been served who was next last. */
  #served = 0;

  constructor({ places, maxWaiting, maxWaitMs, busy = () => new PoolExhaustedError() }: FairQueueOptions) {
    this.#places = places;
    this.#placesOfOne = Math.max(Math.floor(places / 2), 1);
    this.#maxWaiting = maxWaiting;
    this.#maxWaitMs = maxWaitMs;
    this.#busy = busy;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs a read when it is the caller's turn.
   * @throws the error of `busy` if too many wait, or it has waited for too long
   */
  async run<T>(name: string, read: () => Promise<T>): Promise<T> {
    const caller = this.#callers.get(name) ?? this.#add(name);
    if (this.#mayStart(caller) && caller.waiting.size === 0) this.#start(caller);
    else {
      try {
        await this.#wait(caller);
      } catch (error) {
        this.#forgetIfIdle(name, caller);
        throw error;
      }
    }
    const startedAt = performance.now();
    try {
      return await read();
    } finally {
      caller.served += performance.now() - startedAt;
      caller.running -= 1;
      this.#running -= 1;
      this.#startNext();
      this.#forgetIfIdle(name, caller);
    }
  }

  /** A caller that stayed would keep what it was served, and go before everybody the next time. */
  #forgetIfIdle(name: string, caller: Caller): void {
    if (caller.running > 0 || caller.waiting.size > 0) return;
    if (this.#callers.get(name) === caller) this.#callers.delete(name);
  }

  #add(name: string): Caller {
    const caller = { running: 0, served: this.#served, waiting: new Set<Waiting>() };
    this.#callers.set(name, caller);
    return caller;
  }

  #mayStart({ running }: Caller): boolean {
    return this.#running < this.#places && running < this.#placesOfOne;
  }

  #start(caller: Caller): void {
    this.#served = Math.max(this.#served, caller.served);
    caller.running += 1;
    this.#running += 1;
  }

  #wait(caller: Caller): Promise<void> {
    if (this.#waiting >= this.#maxWaiting) this.#dropLatest(caller);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      clearTimeout(timer);
      caller.waiting.delete(waiting);
      this.#waiting -= 1;
    };
    const waiting: Waiting = {
      start: () => {
        leave();
        this.#start(caller);
        resolve();
      },
      reject: (error) => {
        leave();
        reject(error);
      },
    };
    const timer = setTimeout(() => waiting.reject(this.#busy()), this.#maxWaitMs);
    caller.waiting.add(waiting);
    this.#waiting += 1;
    return promise;
  }

  /** Of the caller that has most waiting. @throws the error of `busy` if that is the one who comes */
  #dropLatest(comer: Caller): void {
    let longest = comer;
    for (const caller of this.#callers.values()) if (caller.waiting.size > longest.waiting.size) longest = caller;
    if (longest === comer) throw this.#busy();
    [...longest.waiting].at(-1)?.reject(this.#busy());
  }

  #startNext(): void {
    while (this.#waiting > 0) {
      let next: Caller | undefined;
      for (const caller of this.#callers.values()) {
        if (caller.waiting.size === 0 || !this.#mayStart(caller)) continue;
        if (next === undefined || caller.served < next.served) next = caller;
      }
      const [first] = next?.waiting ?? [];
      if (first === undefined) return;
      first.start();
    }
  }
}

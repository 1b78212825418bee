/**
 * Decides which caller uses a limited resource next: connections to the database, streams to the node, the time for large bodies. The caller
 * that was served least is next, however much the others have waiting. No caller holds more than half of the slots, so that another one finds a
 * free slot at once.
 */
import { PoolExhaustedError } from '@kasgres/database';

interface Waiting {
  start: () => void;
  reject: (error: Error) => void;
}

interface Caller {
  running: number;
  /** Milliseconds that its tasks have taken. A new caller starts at the level of the others. */
  served: number;
  waiting: Set<Waiting>;
}

export interface FairQueueOptions {
  slots: number;
  /** Tasks that may wait. Beyond that, the caller with most of them loses its latest. */
  maxWaiting: number;
  /** A task that has waited this long fails. */
  maxWaitMs: number;
  /** Makes the error of a task that cannot wait, or has waited for too long. */
  busy?: () => Error;
}

export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  readonly #slotsPerCaller: number;
  /** Callers with a running or waiting task. */
  readonly #callers = new Map<string, Caller>();
  #running = 0;
  #waiting = 0;
  /** How much the caller had been served whose task was started last. */
  #served = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { busy: () => new PoolExhaustedError(), ...options };
    this.#slotsPerCaller = Math.max(Math.floor(options.slots / 2), 1);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs a task when it is the caller's turn.
   * @throws the error of `busy` if too many tasks wait, or this one has waited for too long
   */
  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
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
      return await task();
    } finally {
      caller.served += performance.now() - startedAt;
      caller.running -= 1;
      this.#running -= 1;
      this.#startNext();
      this.#forgetIfIdle(name, caller);
    }
  }

  /** An idle caller that stayed would keep its low `served`, and overtake everybody the next time. */
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
    return this.#running < this.#options.slots && running < this.#slotsPerCaller;
  }

  #start(caller: Caller): void {
    this.#served = Math.max(this.#served, caller.served);
    caller.running += 1;
    this.#running += 1;
  }

  #wait(caller: Caller): Promise<void> {
    if (this.#waiting >= this.#options.maxWaiting) this.#dropLatest(caller);
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
    const timer = setTimeout(() => waiting.reject(this.#options.busy()), this.#options.maxWaitMs);
    caller.waiting.add(waiting);
    this.#waiting += 1;
    return promise;
  }

  /** Drops the latest task of the caller with most waiting tasks. @throws the error of `busy` if that is the arriving caller */
  #dropLatest(arriving: Caller): void {
    let longest = arriving;
    for (const caller of this.#callers.values()) if (caller.waiting.size > longest.waiting.size) longest = caller;
    if (longest === arriving) throw this.#options.busy();
    [...longest.waiting].at(-1)?.reject(this.#options.busy());
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

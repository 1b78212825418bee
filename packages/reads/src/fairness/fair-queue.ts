/**
 * Decides which caller uses a limited resource next: connections to the database, streams to the
 * node, the time for large bodies. The caller that was served least is next, however many tasks the
 * others have. No caller holds more than half of the slots, and the last quarter is for callers
 * that hold none, so that a few callers with long tasks leave free slots to all others.
 */
import { PoolExhaustedError } from '@kasgres/database';
import { type Deadline, Deadlines } from '../common/deadlines.ts';
import { type Item, LinkedList } from '../common/linked-list.ts';
import { RecentlyUsed } from '../common/recently-used.ts';

interface Pending {
  caller: Caller;
  start: () => void;
  reject: (error: Error) => void;
  deadline?: Deadline<Item<Pending>>;
}

interface Caller {
  running: number;
  /** Milliseconds that its tasks have taken. A new caller starts at the level of the others. */
  served: number;
  pending: LinkedList<Pending>;
  /** Its item among the callers with pending tasks. */
  item: Item<Caller> | undefined;
}

const isActive = ({ running, pending }: Caller): boolean => running > 0 || pending.size > 0;

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
  /**
   * Slots that callers may take when they hold one already. The others are kept for callers that
   * hold none.
   */
  readonly #commonSlots: number;
  readonly #callers = new RecentlyUsed<Caller>(isActive);
  readonly #withPending = new LinkedList<Caller>();
  readonly #deadlines: Deadlines<Item<Pending>>;
  #running = 0;
  #pending = 0;
  /** `served` of the caller whose task was started last. */
  #served = 0;

  constructor(options: FairQueueOptions) {
    this.#options = { busy: () => new PoolExhaustedError(), ...options };
    this.#slotsPerCaller = Math.max(Math.floor(options.slots / 2), 1);
    this.#commonSlots = options.slots - Math.floor(options.slots / 4);
    this.#deadlines = new Deadlines(options.maxWaitMs, (pending) => this.#drop(pending));
  }

  get waiting(): number {
    return this.#pending;
  }

  /** Returns whether a task of the caller would start at once. */
  isFreeFor(name: string): boolean {
    const caller = this.#callers.get(name);
    return this.#hasSlot() && (caller === undefined || this.#mayStart(caller));
  }

  /**
   * Runs a task when it is the caller's turn.
   * @throws the error of `busy` if too many tasks are pending, or this one has waited for too long
   */
  run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const caller = this.#callerOf(name);
    // While a slot is free, the pending tasks are those of callers that may not have more.
    if (this.#hasSlot() && this.#mayStart(caller)) return this.#execute(caller, task);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const pending: Pending = { caller, start: () => resolve(this.#execute(caller, task)), reject };
    const item = caller.pending.add(pending);
    pending.deadline = this.#deadlines.add(item);
    caller.item ??= this.#withPending.add(caller);
    this.#pending += 1;
    if (this.#pending > this.#options.maxWaiting) this.#dropLatest();
    return promise;
  }

  #hasSlot(): boolean {
    return this.#running < this.#options.slots;
  }

  #mayStart({ running }: Caller): boolean {
    return running === 0 || (running < this.#slotsPerCaller && this.#running < this.#commonSlots);
  }

  #callerOf(name: string): Caller {
    const known = this.#callers.get(name);
    const caller =
      known ?? this.#callers.add(name, { running: 0, served: 0, pending: new LinkedList(), item: undefined });
    // With its low `served` from before, an idle caller would overtake all others.
    if (!isActive(caller)) caller.served = this.#served;
    return caller;
  }

  #leave(item: Item<Pending>): void {
    const { caller, deadline } = item.value;
    if (deadline !== undefined) this.#deadlines.remove(deadline);
    caller.pending.remove(item);
    if (caller.pending.size === 0 && caller.item !== undefined) {
      this.#withPending.remove(caller.item);
      caller.item = undefined;
    }
    this.#pending -= 1;
  }

  #drop(item: Item<Pending>): void {
    this.#leave(item);
    item.value.reject(this.#options.busy());
  }

  async #execute<T>(caller: Caller, task: () => Promise<T>): Promise<T> {
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
    }
  }

  #dropLatest(): void {
    let longest: Caller | undefined;
    for (const { value } of this.#withPending) {
      if (longest === undefined || value.pending.size > longest.pending.size) longest = value;
    }
    if (longest?.pending.last !== undefined) this.#drop(longest.pending.last);
  }

  #startNext(): void {
    while (this.#hasSlot() && this.#pending > 0) {
      let next: Caller | undefined;
      for (const { value } of this.#withPending) {
        if (this.#mayStart(value) && (next === undefined || value.served < next.served)) next = value;
      }
      const first = next?.pending.first;
      if (first === undefined) return;
      this.#leave(first);
      first.value.start();
    }
  }
}

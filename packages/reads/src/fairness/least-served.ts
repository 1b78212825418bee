/**
 * Items that wait, by caller. The caller that was served least is next, and one that was idle is
 * ahead of all others once: a caller that asks for little does not wait for those that ask for
 * much. The items of a caller keep their order.
 */
import { RecentlyUsed } from '../common/recently-used.ts';

interface Caller<T> {
  items: T[];
  /**
   * How many of its items were taken, and more for a caller that was idle, so that it gets no
   * credit for that time.
   */
  served: number;
}

export class LeastServed<T> {
  readonly #callers = new RecentlyUsed<Caller<T>>(({ items }) => items.length > 0);
  readonly #waiting = new Set<Caller<T>>();
  /** The greatest `served` of a caller when an item of it was taken. */
  #level = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(name: string, item: T): void {
    const caller = this.#callers.get(name) ?? this.#callers.add(name, { items: [], served: 0 });
    caller.items.push(item);
    if (caller.items.length > 1) return;
    caller.served = Math.max(caller.served, this.#level - 1);
    this.#waiting.add(caller);
  }

  /** Removes the next item and returns it; undefined if none waits. */
  take(): T | undefined {
    let next: Caller<T> | undefined;
    for (const caller of this.#waiting) if (next === undefined || caller.served < next.served) next = caller;
    if (next === undefined) return undefined;
    this.#level = Math.max(this.#level, next.served);
    next.served += 1;
    const item = next.items.shift();
    if (next.items.length === 0) this.#waiting.delete(next);
    return item;
  }
}

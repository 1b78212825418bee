/**
 * A list whose items are removed in any order, for what comes and goes with each request. A Map or
 * Set would do, but once it has survived a few collections of V8, each table that it outgrows keeps
 * the next one in memory until the next major collection, with all its entries.
 */
export class LinkedList<Value> implements Iterable<Item<Value>> {
  #first: Item<Value> | undefined;
  #last: Item<Value> | undefined;
  size = 0;

  get first(): Item<Value> | undefined {
    return this.#first;
  }

  get last(): Item<Value> | undefined {
    return this.#last;
  }

  /** Adds a value at the end, and returns what removes it. */
  add(value: Value): Item<Value> {
    const item: Item<Value> = { value, previous: this.#last, next: undefined, isIn: true };
    if (this.#last === undefined) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.size += 1;
    return item;
  }

  /** Has no effect if the item was removed before. */
  remove(item: Item<Value>): void {
    if (!item.isIn) return;
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A removed item that is still referenced keeps no other in memory.
    item.previous = undefined;
    item.next = undefined;
    item.isIn = false;
    this.size -= 1;
  }

  /** The current item may be removed during the iteration. */
  *[Symbol.iterator](): Generator<Item<Value>, void, undefined> {
    for (let item = this.#first; item !== undefined; ) {
      const { next }: Item<Value> = item;
      yield item;
      item = next;
    }
  }
}

export interface Item<Value> {
  readonly value: Value;
  previous: Item<Value> | undefined;
  next: Item<Value> | undefined;
  isIn: boolean;
}

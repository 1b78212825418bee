/**
 * A map of what is in use, by name. Unused entries stay until there are many, since adding and
 * removing an entry for each request is slow (linked-list.ts).
 */
const MAX_UNUSED = 10_000;

export class RecentlyUsed<Value> {
  readonly #values = new Map<string, Value>();
  readonly #isInUse: (value: Value) => boolean;
  readonly #maxUnused: number;
  /** At this size, what is unused is forgotten. */
  #limit: number;

  constructor(isInUse: (value: Value) => boolean, maxUnused = MAX_UNUSED) {
    this.#isInUse = isInUse;
    this.#maxUnused = maxUnused;
    this.#limit = maxUnused;
  }

  get size(): number {
    return this.#values.size;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  add(name: string, value: Value): Value {
    if (this.#values.size >= this.#limit) this.#forgetUnused();
    this.#values.set(name, value);
    return value;
  }

  #forgetUnused(): void {
    for (const [name, value] of this.#values) if (!this.#isInUse(value)) this.#values.delete(name);
    // If most of it is in use, the next search would find hardly anything.
    this.#limit = Math.max(this.#maxUnused, this.#values.size * 2);
  }
}

/** Items that wait, by caller. Callers take turns, and the items of a caller keep their order. */
export class Rounds<T> {
  /** Callers in the order of their turns. */
  readonly #waiting = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(caller: string, item: T): void {
    const items = this.#waiting.get(caller);
    if (items === undefined) this.#waiting.set(caller, [item]);
    else items.push(item);
  }

  /** Removes the next item and returns it; undefined if none waits. */
  take(): T | undefined {
    const [[caller, items] = ['', []]] = this.#waiting;
    const item = items.shift();
    // Adding the caller again moves it to the end of the round.
    this.#waiting.delete(caller);
    if (items.length > 0) this.#waiting.set(caller, items);
    return item;
  }
}

/**
 * Runs work in batches, one at a time. Items of one turn of the event loop share a batch, since a
 * busy process reads many requests in a turn. Those that arrive while a batch runs share the next
 * one.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';

export interface BatchesOptions<Item, Result> {
  run: (items: Item[]) => Promise<Result[]>;
  maxItems: number;
  maxPending: number;
  /** Makes the error of an item beyond `maxPending`. */
  busy: () => Error;
}

export class Batches<Item, Result> {
  readonly #options: BatchesOptions<Item, Result>;
  readonly #pending: { item: Item; settled: PromiseWithResolvers<Result> }[] = [];
  #isRunning = false;

  constructor(options: BatchesOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    if (this.#pending.length >= this.#options.maxPending) return Promise.reject(this.#options.busy());
    const settled = Promise.withResolvers<Result>();
    this.#pending.push({ item, settled });
    if (!this.#isRunning) void this.#runAll();
    return settled.promise;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending.length > 0) {
      await endOfTurn();
      const batch = this.#pending.splice(0, this.#options.maxItems);
      try {
        const results = await this.#options.run(batch.map(({ item }) => item));
        for (const [index, { settled }] of batch.entries()) settled.resolve(results[index] as Result);
      } catch (error) {
        for (const { settled } of batch) settled.reject(error);
      }
    }
    this.#isRunning = false;
  }
}

/**
 * Statements that wait for a connection share executions, since to begin one takes longer than a small look-up. Identical ones run once for all
 * who wait, and look-ups with different parameters run as one query. Only statements that have not begun are joined, so that the state of a
 * response is as new as if its statement had run alone.
 */
import type { AnyStatement, BoundStatement } from './statement.ts';

const MAX_LOOK_UPS = 16;

/** Statements of one caller that are to run together, by their parameters. */
interface Batch<Result> {
  caller: string;
  waiting: Map<string, Waiting<Result>>;
}

interface Waiting<Result> {
  parameters: object;
  settled: PromiseWithResolvers<Result>;
}

interface SharedReadsOptions<Result> {
  /** Returns whether a read of the caller would start at once. */
  isFreeFor: (caller: string) => boolean;
  /** Runs a read when it is the caller's turn; again if it was interrupted. */
  inTurn: <T>(caller: string, read: () => Promise<T>) => Promise<T>;
  /** Returns a result for each of the requests. Only a look-up has several. */
  execute: (statement: AnyStatement, requests: readonly object[]) => Promise<Result[]>;
}

export class SharedReads<Result> {
  readonly #options: SharedReadsOptions<Result>;
  /** Batches that have not begun, by what may run together and then by caller. */
  readonly #groups = new Map<string, Map<string, Batch<Result>>>();

  constructor(options: SharedReadsOptions<Result>) {
    this.#options = options;
  }

  async run({ statement, parameters }: BoundStatement<unknown>, caller: string): Promise<Result> {
    const { isFreeFor, inTurn, execute } = this.#options;
    if (isFreeFor(caller)) {
      const [result] = await inTurn(caller, () => execute(statement, [parameters]));
      return result as Result;
    }
    const key = keyOf(parameters);
    const groupKey = statement.isLookUp ? statement.name : `${statement.name}\n${key}`;
    const batch = this.#batchOf(groupKey, statement, caller);
    const known = batch.waiting.get(key);
    if (known !== undefined) return known.settled.promise;
    const settled = Promise.withResolvers<Result>();
    batch.waiting.set(key, { parameters, settled });
    return settled.promise;
  }

  /** Returns the batch that the caller's next statement joins. */
  #batchOf(groupKey: string, statement: AnyStatement, caller: string): Batch<Result> {
    const group = this.#groups.get(groupKey) ?? new Map<string, Batch<Result>>();
    this.#groups.set(groupKey, group);
    const open = group.get(caller);
    if (open !== undefined && open.waiting.size < MAX_LOOK_UPS) return open;
    const batch: Batch<Result> = { caller, waiting: new Map() };
    group.set(caller, batch);
    void this.#runInTurn(groupKey, statement, batch);
    return batch;
  }

  async #runInTurn(groupKey: string, statement: AnyStatement, batch: Batch<Result>): Promise<void> {
    let taken: Waiting<Result>[] = [];
    try {
      const results = await this.#options.inTurn(batch.caller, async () => {
        if (taken.length === 0) taken = this.#take(groupKey, batch);
        // Another caller's turn came first.
        if (taken.length === 0) return [];
        return await this.#options.execute(
          statement,
          taken.map(({ parameters }) => parameters),
        );
      });
      for (const [index, { settled }] of taken.entries()) settled.resolve(results[index] as Result);
    } catch (error) {
      const failed = taken.length === 0 ? this.#close(groupKey, batch).values() : taken;
      for (const { settled } of failed) settled.reject(error);
    }
  }

  /** Begins a batch, and with it what other callers wait for if it can run together. Returns nothing if another caller's turn came first. */
  #take(groupKey: string, batch: Batch<Result>): Waiting<Result>[] {
    const taken = this.#close(groupKey, batch);
    if (taken.size === 0) return [];
    for (const other of this.#groups.get(groupKey)?.values() ?? []) {
      const added = [...other.waiting.keys()].filter((key) => !taken.has(key));
      if (taken.size + added.length > MAX_LOOK_UPS) continue;
      for (const [key, waiting] of this.#close(groupKey, other)) {
        const same = taken.get(key);
        if (same === undefined) taken.set(key, waiting);
        else waiting.settled.resolve(same.settled.promise);
      }
    }
    return [...taken.values()];
  }

  /** Nothing joins the batch any more. Returns what waits in it. */
  #close(groupKey: string, batch: Batch<Result>): Batch<Result>['waiting'] {
    const { waiting } = batch;
    batch.waiting = new Map();
    const group = this.#groups.get(groupKey);
    if (group?.get(batch.caller) === batch) group.delete(batch.caller);
    if (group?.size === 0) this.#groups.delete(groupKey);
    return waiting;
  }
}

/** Returns the same text for the same parameters. */
const keyOf = (parameters: object): string =>
  JSON.stringify(Object.entries(parameters).map(([name, value]) => [name, toJson(value)]));

function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(toJson) : value;
}

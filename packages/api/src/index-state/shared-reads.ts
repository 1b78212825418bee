/**
 * Pending statements share executions, since to begin one takes longer than a small look-up. Identical statements run once, also those of several
 * callers. Look-ups of one caller with different parameters run as one query. Only statements that have not begun are joined, so that the state
 * of a response is as new as if its statement had run alone.
 */
import type { AnyStatement, BoundStatement } from './statement.ts';

const MAX_LOOK_UPS = 16;

/** Statements of one caller that are to run together, by their parameters. */
interface Batch<Result> {
  caller: string;
  pending: Map<string, Pending<Result>>;
}

interface Pending<Result> {
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
    const known = batch.pending.get(key);
    if (known !== undefined) return known.settled.promise;
    const settled = Promise.withResolvers<Result>();
    batch.pending.set(key, { parameters, settled });
    return settled.promise;
  }

  /** Returns the batch that the caller's next statement joins. */
  #batchOf(groupKey: string, statement: AnyStatement, caller: string): Batch<Result> {
    const group = this.#groups.get(groupKey) ?? new Map<string, Batch<Result>>();
    this.#groups.set(groupKey, group);
    const open = group.get(caller);
    if (open !== undefined && open.pending.size < MAX_LOOK_UPS) return open;
    const batch: Batch<Result> = { caller, pending: new Map() };
    group.set(caller, batch);
    void this.#runInTurn(groupKey, statement, batch);
    return batch;
  }

  async #runInTurn(groupKey: string, statement: AnyStatement, batch: Batch<Result>): Promise<void> {
    let taken: Pending<Result>[] | undefined;
    try {
      const results = await this.#options.inTurn(batch.caller, async () => {
        taken ??= this.#take(groupKey, batch);
        // Others may have run what was pending.
        if (taken.length === 0) return [];
        return await this.#options.execute(
          statement,
          taken.map(({ parameters }) => parameters),
        );
      });
      for (const [index, { settled }] of taken?.entries() ?? []) settled.resolve(results[index] as Result);
    } catch (error) {
      for (const { settled } of taken ?? this.#close(groupKey, batch).values()) settled.reject(error);
    }
  }

  /** Closes a batch to further statements and returns its own, after other callers' identical ones have joined them. */
  #take(groupKey: string, batch: Batch<Result>): Pending<Result>[] {
    const taken = this.#close(groupKey, batch);
    for (const { pending } of this.#groups.get(groupKey)?.values() ?? []) {
      for (const [key, { settled }] of taken) {
        pending.get(key)?.settled.resolve(settled.promise);
        pending.delete(key);
      }
    }
    return [...taken.values()];
  }

  #close(groupKey: string, batch: Batch<Result>): Batch<Result>['pending'] {
    const group = this.#groups.get(groupKey);
    if (group?.get(batch.caller) === batch) group.delete(batch.caller);
    if (group?.size === 0) this.#groups.delete(groupKey);
    return batch.pending;
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

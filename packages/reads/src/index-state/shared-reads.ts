/**
 * Pending statements share executions, since to begin one takes longer than a small look-up.
 * Identical statements run once, also those of several callers. Small reads of one caller with
 * different parameters run as one query. Only statements that have not begun are joined, so that
 * the state of a response is as new as if its statement had run alone.
 */
import type { AnyStatement, BoundStatement } from './statement.ts';

/**
 * The limits of what runs as one query. No statement reads more items than the longest page, so
 * together they may read as many.
 */
const MAX_REQUESTS = 16;
const MAX_ITEMS = 100;

/** Statements of one caller that are to run together, by their parameters. */
interface Batch<Result> {
  caller: string;
  pending: Map<string, Pending<Result>>;
  items: number;
}

interface Pending<Result> {
  parameters: object;
  settled: PromiseWithResolvers<Result>;
}

interface Joining {
  /** Names what may run together. */
  groupKey: string;
  statement: AnyStatement;
  caller: string;
  items: number;
}

interface SharedReadsOptions<Result> {
  /** Returns whether a read of the caller would start at once. */
  isFreeFor: (caller: string) => boolean;
  /** Runs a read when it is the caller's turn; again if it was interrupted. */
  inTurn: <T>(caller: string, read: () => Promise<T>) => Promise<T>;
  /** Returns a result for each of the requests. Only a small read has several. */
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
    const items = statement.itemsOf(parameters);
    const groupKey = items === undefined ? `${statement.name}\n${key}` : statement.name;
    const known = this.#groups.get(groupKey)?.get(caller)?.pending.get(key);
    if (known !== undefined) return known.settled.promise;
    const batch = this.#batchFor({ groupKey, statement, caller, items: items ?? 0 });
    const settled = Promise.withResolvers<Result>();
    batch.pending.set(key, { parameters, settled });
    return settled.promise;
  }

  /** Returns the batch that the statement joins, with its items counted. */
  #batchFor({ groupKey, statement, caller, items }: Joining): Batch<Result> {
    const group = this.#groups.get(groupKey) ?? new Map<string, Batch<Result>>();
    this.#groups.set(groupKey, group);
    const open = group.get(caller);
    if (open !== undefined && open.pending.size < MAX_REQUESTS && open.items + items <= MAX_ITEMS) {
      open.items += items;
      return open;
    }
    const batch: Batch<Result> = { caller, pending: new Map(), items };
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

  /**
   * Closes a batch to further statements and returns its own, after other callers' identical ones
   * have joined them.
   */
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

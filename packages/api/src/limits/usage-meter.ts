/** Request units spent, summed up by key and day, and written to the database in batches. */
import { dayOf, type KeyUsage, UnknownCommitError } from '@kasgres/database';
import { fromHundredths, toHundredths } from './request-units.ts';

const FLUSH_MS = 5000;
/** Longer than anybody relies on what was read from the database of a key's use. */
const WRITTEN_KEPT_MS = 60_000;

interface Sum {
  requests: number;
  hundredths: number;
}

/** By key, then by day: as many as there are keys, however long the database is away. */
type Sums = Map<bigint, Map<string, Sum>>;

interface WrittenBatch {
  sums: Sums;
  /** By performance.now(). */
  writtenAt: number;
}

export class UsageMeter {
  readonly #write: (usage: readonly KeyUsage[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #unwritten: Sums = new Map();
  /** On their way to the database; that they arrived is not known yet. */
  #inFlight: Sums = new Map();
  /** In the database, and missing in what was read of it before. Oldest first. */
  #written: WrittenBatch[] = [];
  /** The answer to them was lost: they are neither written again nor forgotten before this has told whether they arrived. */
  #hasArrived: (() => Promise<boolean>) | undefined;
  #flushing: Promise<void> | undefined;

  /**
   * @param write adds a batch to what is in the database, all of it or nothing; an UnknownCommitError tells later which
   * @param onError hears of batches that could not be written, or not be asked about; they are kept
   */
  constructor(write: (usage: readonly KeyUsage[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Counts one request, unless told otherwise. Negative numbers give back what was counted before. */
  add(apiKeyId: bigint, ru: number, { requests = 1, day = dayOf(new Date()) } = {}): void {
    addTo(this.#unwritten, apiKeyId, day, { requests, hundredths: toHundredths(ru) });
  }

  /** What this key spent from a day on that is missing in what was read from the database at a time, by performance.now(). */
  missingRu(apiKeyId: bigint, firstDay: string, readAt: number): number {
    let hundredths = 0;
    const add = (sums: Sums): void => {
      for (const [day, sum] of sums.get(apiKeyId) ?? []) if (day >= firstDay) hundredths += sum.hundredths;
    };
    add(this.#unwritten);
    add(this.#inFlight);
    for (const { sums, writtenAt } of this.#written) if (writtenAt >= readAt) add(sums);
    return fromHundredths(hundredths);
  }

  /** Whether a batch was being written at a time or since: what was read then may have it, or not. */
  mayHaveWrittenSince(time: number): boolean {
    return this.#inFlight.size > 0 || (this.#written.at(-1)?.writtenAt ?? Number.NEGATIVE_INFINITY) >= time;
  }

  /** Writes what was added since the last time, one batch after another; what cannot be written is kept for the next time. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeOut().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #writeOut(): Promise<void> {
    try {
      if (this.#hasArrived !== undefined) await this.#settle(this.#hasArrived);
      if (this.#unwritten.size === 0) return;
      this.#inFlight = this.#unwritten;
      this.#unwritten = new Map();
      await this.#write(toUsage(this.#inFlight));
      this.#keepWritten();
    } catch (error) {
      if (error instanceof UnknownCommitError) this.#hasArrived = error.hasCommitted;
      if (this.#hasArrived === undefined) this.#takeBack();
      this.#onError(error);
    }
  }

  /** What becomes of a batch whose answer was lost. */
  async #settle(hasArrived: () => Promise<boolean>): Promise<void> {
    const arrived = await hasArrived();
    this.#hasArrived = undefined;
    if (arrived) this.#keepWritten();
    else this.#takeBack();
  }

  #keepWritten(): void {
    const writtenAt = performance.now();
    const kept = this.#written.filter((batch) => batch.writtenAt > writtenAt - WRITTEN_KEPT_MS);
    this.#written = [...kept, { sums: this.#inFlight, writtenAt }];
    this.#inFlight = new Map();
  }

  /** It was not written. */
  #takeBack(): void {
    for (const [apiKeyId, days] of this.#inFlight) {
      for (const [day, sum] of days) addTo(this.#unwritten, apiKeyId, day, sum);
    }
    this.#inFlight = new Map();
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }
}

function addTo(sums: Sums, apiKeyId: bigint, day: string, { requests, hundredths }: Sum): void {
  const days = sums.get(apiKeyId) ?? new Map<string, Sum>();
  const sum = days.get(day) ?? { requests: 0, hundredths: 0 };
  sums.set(apiKeyId, days.set(day, { requests: sum.requests + requests, hundredths: sum.hundredths + hundredths }));
}

function toUsage(sums: Sums): KeyUsage[] {
  return [...sums].flatMap(([apiKeyId, days]) =>
    [...days].map(([day, { requests, hundredths }]) => ({
      apiKeyId,
      day,
      requests,
      ru: fromHundredths(hundredths),
    })),
  );
}

import { dayOf, type KeyUsage, UnknownCommitError } from '@kasgres/database';
import { fromHundredths, toHundredths } from './hundredths.ts';

const FLUSH_MS = 5000;
const WRITTEN_KEPT_MS = 60_000;

interface Sum {
  requests: number;
  hundredths: number;
}

/** By key, then by day, so that the size does not depend on the length of an outage. */
type Sums = Map<bigint, Map<string, Sum>>;

export class UsageMeter {
  readonly #write: (usage: readonly KeyUsage[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #unwritten: Sums = new Map();
  /**
   * Batches that are missing in usage that was read before `writtenAt` (by performance.now()),
   * oldest first. Infinity is being written.
   */
  #batches: { sums: Sums; writtenAt: number }[] = [];
  /** Set while the outcome of the commit of the last batch is unknown. */
  #hasCommitted: (() => Promise<boolean>) | undefined;
  #flushing: Promise<void> | undefined;

  /**
   * @param write adds a whole batch to the database, or throws; UnknownCommitError if the outcome
   * is unknown
   * @param onError is called if a batch could not be written or its outcome not be determined; the
   * batch is kept
   */
  constructor(write: (usage: readonly KeyUsage[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Counts one request by default. Negative numbers refund. */
  add(apiKeyId: bigint, ru: number, { requests = 1, day = dayOf(new Date()) } = {}): void {
    addTo(this.#unwritten, apiKeyId, day, { requests, hundredths: toHundredths(ru) });
  }

  /**
   * Returns what the key has spent since a day that is missing in what was read from the database
   * at `readAt` (by performance.now()).
   */
  missingRu(apiKeyId: bigint, firstDay: string, readAt: number): number {
    let hundredths = 0;
    const add = (sums: Sums): void => {
      for (const [day, sum] of sums.get(apiKeyId) ?? []) if (day >= firstDay) hundredths += sum.hundredths;
    };
    add(this.#unwritten);
    for (const { sums, writtenAt } of this.#batches) if (writtenAt >= readAt) add(sums);
    return fromHundredths(hundredths);
  }

  /**
   * Returns whether a batch was being written at or since `time`, so that usage read then may or
   * may not include it.
   */
  mayHaveWrittenSince(time: number): boolean {
    return (this.#batches.at(-1)?.writtenAt ?? Number.NEGATIVE_INFINITY) >= time;
  }

  /** Writes one batch after another. A batch that fails is kept for the next time. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeOut().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #writeOut(): Promise<void> {
    try {
      if (this.#hasCommitted !== undefined) {
        const committed = await this.#hasCommitted();
        this.#hasCommitted = undefined;
        this.#settle(committed);
      }
      if (this.#unwritten.size === 0) return;
      const sums = this.#unwritten;
      const keptSince = performance.now() - WRITTEN_KEPT_MS;
      const kept = this.#batches.filter(({ writtenAt }) => writtenAt > keptSince);
      this.#batches = [...kept, { sums, writtenAt: Number.POSITIVE_INFINITY }];
      this.#unwritten = new Map();
      await this.#write(toUsage(sums));
      this.#settle(true);
    } catch (error) {
      if (error instanceof UnknownCommitError) this.#hasCommitted = error.hasCommitted;
      if (this.#hasCommitted === undefined) this.#settle(false);
      this.#onError(error);
    }
  }

  #settle(committed: boolean): void {
    const batch = this.#batches.pop();
    if (batch === undefined) return;
    if (committed) this.#batches.push({ ...batch, writtenAt: performance.now() });
    else for (const [id, days] of batch.sums) for (const [day, sum] of days) addTo(this.#unwritten, id, day, sum);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }
}

function addTo(sums: Sums, apiKeyId: bigint, day: string, { requests, hundredths }: Sum): void {
  let days = sums.get(apiKeyId);
  if (days === undefined) {
    days = new Map();
    sums.set(apiKeyId, days);
  }
  const sum = days.get(day);
  if (sum === undefined) {
    days.set(day, { requests, hundredths });
  } else {
    sum.requests += requests;
    sum.hundredths += hundredths;
  }
}

/** Leaves out sums of which all was refunded. */
function toUsage(sums: Sums): KeyUsage[] {
  return [...sums].flatMap(([apiKeyId, days]) =>
    [...days].flatMap(([day, { requests, hundredths }]) =>
      requests === 0 && hundredths === 0 ? [] : [{ apiKeyId, day, requests, ru: fromHundredths(hundredths) }],
    ),
  );
}

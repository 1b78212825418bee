/** Request units spent, summed up by key and day, and written to the database in batches. */
import type { KeyUsage } from '@kasgres/database';

const FLUSH_MS = 5000;

export class UsageMeter {
  readonly #write: (usage: readonly KeyUsage[]) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  /** Not written yet, by key and day. */
  #sums = new Map<string, KeyUsage>();

  constructor(write: (usage: readonly KeyUsage[]) => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Counts one request. */
  add(apiKeyId: bigint, ru: number): void {
    this.#add({ apiKeyId, day: new Date().toISOString().slice(0, 10), requests: 1, ru });
  }

  #add({ apiKeyId, day, requests, ru }: KeyUsage): void {
    const name = `${apiKeyId} ${day}`;
    const sum = this.#sums.get(name);
    this.#sums.set(name, {
      apiKeyId,
      day,
      requests: (sum?.requests ?? 0) + requests,
      // Costs are tenths of a unit; rounding keeps the sum at what the tenths add up to.
      ru: Math.round(((sum?.ru ?? 0) + ru) * 10) / 10,
    });
  }

  /** Writes what was added since the last time; what cannot be written is kept for the next time. */
  async flush(): Promise<void> {
    const batch = [...this.#sums.values()];
    if (batch.length === 0) return;
    this.#sums = new Map();
    try {
      await this.#write(batch);
    } catch (error) {
      for (const usage of batch) this.#add(usage);
      this.#onError(error);
    }
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

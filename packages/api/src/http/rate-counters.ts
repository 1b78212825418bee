/** Where the windows of rate limits are counted: in this process, or in the database for all processes of the API. */
import type { Connection } from '@kasgres/database';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';

/** They count, and refuse nothing: each key has a limit and a window of its own (rate-limits.ts). */
const COUNT_ONLY = { points: Number.MAX_SAFE_INTEGER, duration: 1, keyPrefix: '' };

export function createMemoryCounter(): RateLimiterAbstract {
  return new RateLimiterMemory(COUNT_ONLY);
}

/** No request waits longer for the shared windows. */
const STORE_TIMEOUT_MS = 1000;
/** After a failure the store is left alone, so that requests need not wait one after another. */
const STORE_PAUSE_MS = 3000;

/**
 * Counts in the table rate_limits. While that is out of reach, each process counts for itself. The processes' clocks must agree: the
 * end of a window is written by the process that began it.
 */
export function createSharedCounter(
  pool: Connection['pool'],
  onFailure: (error: unknown) => void,
): RateLimiterAbstract {
  return new RateLimiterPostgres({
    ...COUNT_ONLY,
    storeClient: new StoreClient(pool, onFailure),
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    insuranceLimiter: createMemoryCounter(),
  });
}

/** What the limiter takes for a client of `pg`. */
class StoreClient {
  readonly #pool: Connection['pool'];
  readonly #onFailure: (error: unknown) => void;
  #pauseUntil = 0;

  constructor(pool: Connection['pool'], onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  async query({ text, values }: { text: string; values: unknown[] }): Promise<unknown> {
    if (performance.now() < this.#pauseUntil) throw new Error('The store of rate limits is left alone after a failure');
    try {
      // Without the limiter's statement name, which a pooler between us and Postgres may not know; and with its numbers as numbers.
      const query = this.#pool.query({ text, values, types: { getTypeParser: () => parseColumn } });
      return await within(STORE_TIMEOUT_MS, query);
    } catch (error) {
      this.#pauseUntil = performance.now() + STORE_PAUSE_MS;
      this.#onFailure(error);
      throw error;
    }
  }
}

/** Points and times, which are far below 2^53. */
const parseColumn = (text: string): number => Number(text);

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No answer within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

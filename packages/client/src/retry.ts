/**
 * Retries requests after a 429 (request units are spent) or a 503 (a dependency is unavailable), as
 * `retry-after` says.
 */

import { readRetryAfter } from './api-error.ts';
import { sleep } from './sleep.ts';

export interface RetryOptions {
  /** Largest number of requests, including the first one. */
  attempts: number;
  /** A response with a longer `retry-after` is returned. 60 by default. */
  maxWaitSeconds?: number | undefined;
}

type Fetch = (request: Request) => Promise<Response>;

const RETRYABLE = new Set([429, 503]);

/** Wraps `fetch` with retries. */
export function retrying(fetch: Fetch, { attempts, maxWaitSeconds = 60 }: RetryOptions): Fetch {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      // A request can be sent only once, so a copy is sent.
      const response = await fetch(request.clone());
      const seconds = readRetryAfter(response.headers) ?? Number.POSITIVE_INFINITY;
      if (attempt >= attempts || !RETRYABLE.has(response.status) || seconds > maxWaitSeconds) return response;
      await response.body?.cancel();
      await sleep(seconds * 1000, request.signal);
    }
  };
}

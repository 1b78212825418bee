/** Asking again where the API says when: 429, request units spent, and 503, something is out of reach for a while. */

export interface RetryOptions {
  /** How often a request is sent at most, the first time included. */
  attempts: number;
  /** An answer that asks for a longer wait is given back as it is. 60 by default. */
  maxWaitSeconds?: number;
}

type Fetch = (request: Request) => Promise<Response>;

const AGAIN = new Set([429, 503]);

/** A `fetch` that waits as long as `retry-after` says, and sends the same request again. */
export function retrying(fetch: Fetch, { attempts, maxWaitSeconds = 60 }: RetryOptions): Fetch {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      // A request can be sent once; the copy keeps the body for the next time.
      const response = await fetch(request.clone());
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (attempt >= attempts || !AGAIN.has(response.status) || !(seconds <= maxWaitSeconds)) return response;
      await response.body?.cancel();
      await sleep(seconds * 1000, request.signal);
    }
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

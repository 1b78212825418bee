import { backoff, type BackoffOptions, sleep } from './sleep.ts';

export interface RetryOptions extends BackoffOptions {
  signal: AbortSignal;
  /** Called before each pause. An error that it throws ends the retries, and is thrown. */
  onFailure: (error: unknown, pauseMs: number) => void;
}

/**
 * Runs a task until it succeeds, with growing pauses after failures; after a call of `succeeded`,
 * they grow from the first one again. Returns undefined, and swallows the failure, if the signal is
 * aborted.
 */
export async function retry<Result>(
  task: (succeeded: () => void) => Promise<Result>,
  { signal, onFailure, ...options }: RetryOptions,
): Promise<Result | undefined> {
  let pauses = backoff(options);
  while (!signal.aborted) {
    try {
      return await task(() => {
        pauses = backoff(options);
      });
    } catch (error) {
      if (signal.aborted) return undefined;
      const pauseMs = pauses.next().value;
      onFailure(error, pauseMs);
      await sleep(pauseMs, signal).catch(() => undefined);
    }
  }
  return undefined;
}

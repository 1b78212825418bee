/** Waiting: abortable sleeps, and the growing pauses between retries. */
import { setTimeout } from 'node:timers/promises';

/**
 * Resolves after `milliseconds`.
 * @throws the `AbortError` of node:timers as soon as the signal is aborted
 */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
}

/** Resolves when the signal is aborted, immediately if it already is. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}

export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

export interface BackoffOptions {
  firstMs?: number;
  maxMs?: number;
  factor?: number;
  /** Returns a number in [0, 1); replaced in tests. */
  random?: () => number;
}

/**
 * Yields endless delays in milliseconds: each is a random point in the upper half of a step, and
 * the steps grow by `factor` up to `maxMs`. The randomness keeps clients of one server from
 * returning at the same moment.
 */
export function* backoff(options: BackoffOptions = {}): Generator<number, never, void> {
  const { firstMs = 100, maxMs = 30_000, factor = 2, random = Math.random } = options;
  let step = firstMs;
  while (true) {
    yield Math.round((step / 2) * (1 + random()));
    step = Math.min(step * factor, maxMs);
  }
}

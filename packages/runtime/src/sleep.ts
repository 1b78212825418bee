/** Waiting that a signal can end. */
import { setTimeout } from 'node:timers/promises';

/**
 * Resolves after `milliseconds`.
 * @throws the `AbortError` of node:timers as soon as the signal is aborted
 */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal });
}

/** Resolves when the signal is aborted (at once if it already is): how a server waits for its end. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}

/** Whether the error only says that an abort was heard. */
export function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

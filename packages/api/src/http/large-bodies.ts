/**
 * Parses and validates large bodies one at a time, each stretch of work followed by a pause of twice its length, so that they take at most a
 * third of the event loop. Turns (fairness/event-loop-turns.ts) are not enough here, since parsing cannot be divided into short slices.
 */
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from '../fairness/fair-queue.ts';
import { unavailable } from './errors.ts';

/** A body of this size takes about a millisecond. */
export const LARGE_CHARACTERS = 32 * 1024;
/** Work in a loop pauses after this time. */
const STRETCH_MS = 10;
const PAUSE_FACTOR = 2;
/** Bounds the pause after work that cannot be divided. */
const MAX_PAUSE_MS = 100;

/** As long as any response may take (server.ts). */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
/** Their texts take at most 256 MiB. */
const MAX_WAITING = 256;

const queue = new FairQueue({
  slots: 1,
  maxWaiting: MAX_WAITING,
  maxWaitMs: MAX_WAIT_MS,
  busy: () => unavailable('Too many large request bodies are being processed', RETRY_AFTER_SECONDS),
});

/** Times of the current or latest stretch, by performance.now(). There is one slot, so one pair is enough. */
let startedAt = 0;
let pausedUntil = 0;

async function beginStretch(): Promise<void> {
  await yieldToEventLoop();
  const left = pausedUntil - performance.now();
  if (left > 0) await sleep(left);
  startedAt = performance.now();
}

function endStretch(): void {
  const now = performance.now();
  pausedUntil = now + Math.min((now - startedAt) * PAUSE_FACTOR, MAX_PAUSE_MS);
}

/**
 * Runs `work` on a large body when it is the caller's turn.
 * @throws HttpError 503 if too many large bodies wait, or this one has waited for too long
 */
export function afterOtherLargeBodies<T>(caller: string, work: () => Promise<T>): Promise<T> {
  return queue.run(caller, async () => {
    await beginStretch();
    try {
      return await work();
    } finally {
      endStretch();
    }
  });
}

/** Returns whether a loop within `afterOtherLargeBodies` should pause now. */
export const isPauseDue = (): boolean => performance.now() > startedAt + STRETCH_MS;

export async function pause(): Promise<void> {
  endStretch();
  await beginStretch();
}

/**
 * Parses and validates large bodies one at a time, each stretch of work followed by a pause of
 * twice its length, so that they take at most a third of the event loop. Turns
 * (fairness/event-loop-turns.ts) are not enough here, since parsing cannot be divided into short
 * slices.
 */
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from '../fairness/fair-queue.ts';
import { unavailable } from './errors.ts';

/** A body of this size takes about a millisecond. */
export const LARGE_CHARACTERS = 32 * 1024;
const STRETCH_MS = 10;
const PAUSE_FACTOR = 2;
/** Bounds the pause after work that cannot be divided. */
const MAX_PAUSE_MS = 100;

const queue = new FairQueue({
  slots: 1,
  // Their texts take at most 256 MiB.
  maxWaiting: 256,
  // As long as any response of the API may take.
  maxWaitMs: 15_000,
  busy: () => unavailable('Too many large request bodies are being processed', 2),
});

/**
 * When the current stretch began, by performance.now(). There is one slot, so one time is enough.
 */
let startedAt = 0;

/**
 * Runs `work` on a large body when it is the caller's turn. The next one waits for the pause after
 * it.
 * @throws HttpError 503 if too many large bodies wait, or this one has waited for too long
 */
export function afterOtherLargeBodies<T>(caller: string, work: () => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const turn = queue.run(caller, async () => {
    await yieldToEventLoop();
    startedAt = performance.now();
    await work().then(resolve, reject);
    await pause();
  });
  turn.catch(reject);
  return promise;
}

/** Returns whether a loop within `afterOtherLargeBodies` should pause now. */
export const isPauseDue = (): boolean => performance.now() > startedAt + STRETCH_MS;

export async function pause(): Promise<void> {
  await sleep(Math.min((performance.now() - startedAt) * PAUSE_FACTOR, MAX_PAUSE_MS));
  startedAt = performance.now();
}

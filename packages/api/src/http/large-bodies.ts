/**
 * Large bodies are parsed and validated one after another, and each stretch of work is followed by a pause of twice its length: together they
 * take a third of the event loop at most, and the rest is for small requests. Callers take turns by the time that their bodies have taken.
 */
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from '../fairness/fair-queue.ts';
import { unavailable } from './errors.ts';

/** A body of this size takes about a millisecond, less than putting it off would be worth. */
const LARGE_CHARACTERS = 32 * 1024;
/** After this long, work on a large body pauses. */
const STRETCH_MS = 10;
const PAUSE_FACTOR = 2;
/** After work that cannot be divided, such as the parsing of a megabyte on a slow machine. */
const MAX_PAUSE_MS = 100;

const largeBodies = new WeakSet<object>();
/** As long as any response may take (server.ts). */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
/** With their texts these take 256 MiB at most. */
const MAX_WAITING = 256;
/** The one place goes to the caller whose bodies have taken the least time. */
const queue = new FairQueue({
  places: 1,
  maxWaiting: MAX_WAITING,
  maxWaitMs: MAX_WAIT_MS,
  busy: () => unavailable('Too many large bodies are waiting', RETRY_AFTER_SECONDS),
});

/** Of the stretch of work that is going on, or was last: there is one place. On the clock of `performance`. */
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

export const isLargeText = (text: string): boolean => text.length > LARGE_CHARACTERS;

export function markLarge(body: unknown): void {
  if (typeof body === 'object' && body !== null) largeBodies.add(body);
}

export const isLarge = (body: unknown): boolean => typeof body === 'object' && body !== null && largeBodies.has(body);

/**
 * Runs `work` when it is the caller's turn, after the pause that other work was followed by.
 * @throws HttpError 503 if too many large bodies wait, or this one has waited for too long
 */
export function afterOtherLargeBodies<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
  return queue.run(caller, async () => {
    await beginStretch();
    try {
      return await work();
    } finally {
      endStretch();
    }
  });
}

/** Whether work in a loop, within `afterOtherLargeBodies`, is to pause. */
export const isPauseDue = (): boolean => performance.now() > startedAt + STRETCH_MS;

export async function pause(): Promise<void> {
  endStretch();
  await beginStretch();
}

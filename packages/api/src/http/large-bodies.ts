/**
 * Large bodies are parsed and validated one after another, each step in a separate turn of the event loop: together they may take all
 * the time of a core, but between two turns every small request is served. Callers take turns by the time that their bodies have taken.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { FairQueue } from '../fairness/fair-queue.ts';
import { unavailable } from './errors.ts';

/** A body of this size takes about a millisecond, less than putting it off would be worth. */
const LARGE_CHARACTERS = 32 * 1024;
/** After this long, work on a large body yields. */
const TURN_MS = 10;

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

export const isLargeText = (text: string): boolean => text.length > LARGE_CHARACTERS;

export function markLarge(body: unknown): void {
  if (typeof body === 'object' && body !== null) largeBodies.add(body);
}

export const isLarge = (body: unknown): boolean => typeof body === 'object' && body !== null && largeBodies.has(body);

/**
 * Runs `work` when it is the caller's turn, in a new turn of the event loop.
 * @throws HttpError 503 if too many large bodies wait, or this one has waited for too long
 */
export function afterOtherLargeBodies<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
  return queue.run(caller, async () => {
    await yieldToEventLoop();
    return await work();
  });
}

/** Work in a loop that yields now and then. */
export class Turn {
  #endsAt = performance.now() + TURN_MS;

  isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  async next(): Promise<void> {
    await yieldToEventLoop();
    this.#endsAt = performance.now() + TURN_MS;
  }
}

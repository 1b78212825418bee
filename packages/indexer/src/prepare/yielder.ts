import { setImmediate } from 'node:timers/promises';

const YIELD_EVERY_MS = 4;

/**
 * Lets the event loop run other work during a long computation. Preparing a batch takes the thread for most of a second, in which the previous
 * batch must be sent to Postgres and the next pages must be received.
 */
export class Yielder {
  #last = performance.now();

  /** Returns at once until some milliseconds have passed. */
  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#last < YIELD_EVERY_MS) return;
    await setImmediate();
    this.#last = performance.now();
  }
}

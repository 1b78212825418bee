/**
 * Lets the event loop turn in the middle of a long computation. Preparing a batch takes the thread for most of a second, and in
 * that time the batch before it must go on to Postgres and the pages after it must come in.
 */
import { setImmediate } from 'node:timers/promises';

const TURN_MS = 4;

export class Breather {
  #last = performance.now();

  /** Costs nothing until some milliseconds have passed. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#last < TURN_MS) return;
    await setImmediate();
    this.#last = performance.now();
  }
}

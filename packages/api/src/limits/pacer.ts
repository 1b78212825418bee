/**
 * Spreads what costs nobody anything over time: requests without a key, and refusals. Within the rate nobody waits. Beyond it a response
 * is held back until it is due, so that a flood, whose clients wait for their responses, comes at the rate and not as fast as this
 * process can refuse. A flood whose clients do not wait is bounded too: a client that leaves is forgotten at once, and when as many are held
 * as are due within the longest pause, further connections are destroyed.
 */
import type { ServerResponse } from 'node:http';

/** All that is beyond so many seconds' worth goes out this late. */
const MAX_PAUSE_MS = 5000;

/** The response that waits. */
export type Held = Pick<ServerResponse, 'destroyed' | 'destroy' | 'once' | 'off'>;

export class Pacer {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #maxHeld: number;
  #held = 0;
  /** When the next one would be due if they came evenly. */
  #nextAt = 0;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }) {
    this.#intervalMs = 1000 / perSecond;
    this.#burstMs = burst * this.#intervalMs;
    this.#maxHeld = (perSecond * MAX_PAUSE_MS) / 1000;
  }

  /** Resolves when the response is due, or its connection is closed, by the client or because too many are held; undefined if it is due now. */
  wait(response: Held): Promise<void> | undefined {
    const now = performance.now();
    const dueAt = Math.min(Math.max(this.#nextAt, now), now + this.#burstMs + MAX_PAUSE_MS);
    this.#nextAt = dueAt + this.#intervalMs;
    const pauseMs = dueAt - this.#burstMs - now;
    if (pauseMs <= 0 || response.destroyed) return undefined;
    if (this.#held >= this.#maxHeld) {
      response.destroy();
      return undefined;
    }
    return this.#hold(response, pauseMs);
  }

  get isIdle(): boolean {
    return this.#held === 0 && this.#nextAt <= performance.now();
  }

  #hold(response: Held, pauseMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held += 1;
    const release = (): void => {
      clearTimeout(timer);
      response.off('close', release);
      this.#held -= 1;
      resolve();
    };
    const timer = setTimeout(release, pauseMs);
    response.once('close', release);
    return promise;
  }
}

/** A pacer for each bucket, as long as it is needed. */
export class Pacers {
  readonly #rate: { perSecond: number; burst: number };
  readonly #pacers = new Map<string, Pacer>();

  constructor(rate: { perSecond: number; burst: number }) {
    this.#rate = rate;
  }

  wait(bucket: string, response: Held): Promise<void> | undefined {
    const pacer = this.#pacers.get(bucket) ?? this.#add(bucket);
    return pacer.wait(response);
  }

  #add(bucket: string): Pacer {
    for (const [name, pacer] of this.#pacers) if (pacer.isIdle) this.#pacers.delete(name);
    const pacer = new Pacer(this.#rate);
    this.#pacers.set(bucket, pacer);
    return pacer;
  }
}

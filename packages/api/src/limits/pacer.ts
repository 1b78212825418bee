/**
 * Limits the rate of responses that cost no request units: to requests without a key, and refusals.
 * Beyond the rate, responses are delayed, which slows down clients that wait for them. Clients that
 * do not wait are bounded, too: a client that disconnects is forgotten at once, and when as many
 * responses are delayed as are due within the longest delay, further connections are destroyed.
 */
import type { ServerResponse } from 'node:http';

const MAX_DELAY_MS = 5000;

interface PacerRate {
  perSecond: number;
  burst: number;
}

/** Returns the rate of one of several processes among which connections are distributed evenly. */
export const divideRate = ({ perSecond, burst }: PacerRate, processes: number): PacerRate => ({
  perSecond: perSecond / processes,
  burst: burst / processes,
});

/** A response whose delay ends when its connection closes. */
export type Held = Pick<ServerResponse, 'destroyed' | 'destroy' | 'once' | 'off'>;

export class Pacer {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #maxHeld: number;
  #held = 0;
  /** When the next one would be due if they came evenly. */
  #nextAt = 0;

  constructor({ perSecond, burst }: PacerRate) {
    this.#intervalMs = 1000 / perSecond;
    this.#burstMs = burst * this.#intervalMs;
    this.#maxHeld = (perSecond * MAX_DELAY_MS) / 1000;
  }

  /**
   * Resolves when the response is due or its connection is closed. Returns undefined if there is no
   * delay.
   * @param weight how many responses it counts as
   */
  wait(response: Held, weight = 1): Promise<void> | undefined {
    const now = performance.now();
    const dueAt = Math.min(Math.max(this.#nextAt, now), now + this.#burstMs + MAX_DELAY_MS);
    this.#nextAt = dueAt + weight * this.#intervalMs;
    const delayMs = dueAt - this.#burstMs - now;
    if (delayMs <= 0 || response.destroyed) return undefined;
    if (this.#held >= this.#maxHeld) {
      response.destroy();
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held += 1;
    const release = (): void => {
      clearTimeout(timer);
      response.off('close', release);
      this.#held -= 1;
      resolve();
    };
    const timer = setTimeout(release, delayMs);
    response.once('close', release);
    return promise;
  }

  get isIdle(): boolean {
    return this.#held === 0 && this.#nextAt <= performance.now();
  }
}

/** Keeps a pacer for each bucket while it is in use. */
export class Pacers {
  readonly #rate: PacerRate;
  readonly #pacers = new Map<string, Pacer>();

  constructor(rate: PacerRate) {
    this.#rate = rate;
  }

  wait(bucket: string, response: Held): Promise<void> | undefined {
    let pacer = this.#pacers.get(bucket);
    if (pacer === undefined) {
      for (const [name, other] of this.#pacers) if (other.isIdle) this.#pacers.delete(name);
      pacer = new Pacer(this.#rate);
      this.#pacers.set(bucket, pacer);
    }
    return pacer.wait(response);
  }
}

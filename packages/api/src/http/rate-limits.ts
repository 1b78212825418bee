/**
 * Rate limits: how many request units a key may still spend in its window. A window begins with the first request after the last one
 * has ended, and lasts for its whole length. Limits differ by key, so the limiter underneath only counts what is spent in a window;
 * how much that may be is compared here.
 */
import { type ApiKey, MAX_WINDOW_SECONDS } from '@kasgres/database';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { fromHundredths, toHundredths } from './request-units.ts';

/** What a request finds of its key's window, after it was counted. */
export interface RateWindow {
  allowed: boolean;
  remainingRu: number;
  /** Whole seconds until the window has ended for certain. */
  resetSeconds: number;
}

/** What was left of a window when a request was refused for more. */
interface Refusal {
  remaining: number;
  windowEndsAt: number;
  knownUntil: number;
}

/** Who keeps asking in vain is refused from memory in the meantime, and spares the store that processes share. */
const REFUSAL_KNOWN_MS = 1000;

export class RateLimits {
  /** Counts hundredths of a unit, without a limit of its own (rate-counters.ts). */
  readonly #counter: RateLimiterAbstract;
  readonly #refusals = new Map<bigint, Refusal>();

  constructor(counter: RateLimiterAbstract) {
    this.#counter = counter;
  }

  /** Spends what a request costs, if the key's window still has that much. */
  async spend(key: Pick<ApiKey, 'id' | 'rateRu' | 'windowSeconds'>, ru: number): Promise<RateWindow> {
    const cost = toHundredths(ru);
    const known = this.#findRefusal(key.id);
    if (known !== undefined && cost > known.remaining) return toWindow(false, known.remaining, known.windowEndsAt);

    const limit = toHundredths(key.rateRu);
    // A window of a month, which no key should have, would run into the limit of the timers that a limiter in memory forgets by.
    const options = { customDuration: Math.min(key.windowSeconds, MAX_WINDOW_SECONDS) };
    const { consumedPoints, msBeforeNext } = await this.#counter.consume(String(key.id), cost, options);
    const windowEndsAt = Date.now() + msBeforeNext;
    if (consumedPoints <= limit) return toWindow(true, limit - consumedPoints, windowEndsAt);

    // What is refused costs nothing: another request that costs less may still fit.
    await this.#counter.reward(String(key.id), cost, options);
    const remaining = Math.max(limit - (consumedPoints - cost), 0);
    const knownUntil = Math.min(windowEndsAt, Date.now() + REFUSAL_KNOWN_MS);
    this.#refusals.set(key.id, { remaining, windowEndsAt, knownUntil });
    return toWindow(false, remaining, windowEndsAt);
  }

  #findRefusal(keyId: bigint): Refusal | undefined {
    const refusal = this.#refusals.get(keyId);
    if (refusal === undefined || Date.now() < refusal.knownUntil) return refusal;
    this.#refusals.delete(keyId);
    return undefined;
  }
}

function toWindow(allowed: boolean, remaining: number, endsAt: number): RateWindow {
  const resetSeconds = Math.max(Math.ceil((endsAt - Date.now()) / 1000), 1);
  return { allowed, remainingRu: fromHundredths(remaining), resetSeconds };
}

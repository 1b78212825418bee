/**
 * Decides whether a request may run: rate limits, quotas and requests in flight of a bucket, which
 * belongs to a key or to an anonymous client. Windows may be shared with other processes, and only
 * for those the methods wait; requests in flight are counted per process.
 */
import { dayOf, endOf, firstDayOf, type QuotaPeriod } from '@kasgres/database';
import { type Awaitable, RecentlyUsed, whenKnown } from '@kasgres/reads';
import { fromHundredths, toHundredths } from './hundredths.ts';
import type { UsageMeter } from './usage-meter.ts';
import type { Windows, WindowState } from './windows.ts';

/** Requests that are limited together. */
export interface Bucket {
  name: string;
  /** Null for clients without a key, whose usage is not kept. */
  apiKeyId: bigint | null;
  rateRu: number;
  windowSeconds: number;
  concurrency: number;
  quota: Quota | undefined;
}

interface Quota {
  ru: number;
  period: QuotaPeriod;
  /**
   * The usage in the database when it was read at `asOf`, in the period that began on the day
   * `since` (UTC).
   */
  used: { ru: number; since: string; asOf: number };
}

export type RefusalReason = 'concurrency' | 'quota' | 'rate_limit';

/** A charge, with what is needed to refund it. */
export interface Charge {
  ru: number;
  window: number;
  day: string;
}

/** The state of the window after the request was charged or refused. */
export interface Standing {
  remainingRu: number;
  /**
   * Whole seconds until the window, or the period of the quota, ends; of a refusal, until a retry
   * may succeed.
   */
  resetSeconds: number;
}

export interface Refused extends Standing {
  refusal: RefusalReason;
}

export type Verdict = (Standing & { refusal?: undefined; charge: Charge }) | Refused;

const CONCURRENCY_RETRY_SECONDS = 1;

export class Limits {
  readonly #windows: Windows;
  readonly #usage: UsageMeter;
  readonly #inFlight = new RecentlyUsed<{ count: number }>(({ count }) => count > 0);

  constructor(windows: Windows, usage: UsageMeter) {
    this.#windows = windows;
    this.#usage = usage;
  }

  /**
   * Charges the cost of a request and counts it as in flight, or refuses it and charges nothing.
   * Each admitted request must be released.
   * @throws HttpError 503 if the store is unavailable
   */
  admit(bucket: Bucket, ru: number): Awaitable<Verdict> {
    const inFlight = this.#inFlight.get(bucket.name) ?? this.#inFlight.add(bucket.name, { count: 0 });
    if (inFlight.count >= bucket.concurrency) return refuse('concurrency', CONCURRENCY_RETRY_SECONDS);
    inFlight.count += 1;
    const settle = (verdict: Verdict): Verdict => {
      if (verdict.refusal !== undefined) this.release(bucket);
      return verdict;
    };
    return whenKnown(this.#charge(bucket, ru, 1), settle, (error) => {
      this.release(bucket);
      throw error;
    });
  }

  /**
   * Charges what a request in flight costs beyond its first charge. A refusal also refunds the
   * first charge, unless that is null.
   * @throws HttpError 503 if the store is unavailable
   */
  async chargeMore(bucket: Bucket, first: Charge | null, ru: number): Promise<Verdict> {
    const verdict = await this.#charge(bucket, ru, 0);
    if (verdict.refusal !== undefined && first !== null) {
      this.#windows.refund(bucket.name, first.window, toHundredths(first.ru));
      this.#meter(bucket, -first.ru, -1, first.day);
    }
    return verdict;
  }

  release({ name }: Bucket): void {
    const inFlight = this.#inFlight.get(name);
    if (inFlight !== undefined && inFlight.count > 0) inFlight.count -= 1;
  }

  /** Writes the usage that is not written yet. */
  close(): Promise<void> {
    return this.#usage.close();
  }

  #charge(bucket: Bucket, ru: number, requests: number): Awaitable<Verdict> {
    const quotaSeconds = this.#findQuotaWait(bucket, ru);
    if (quotaSeconds !== undefined) return refuse('quota', quotaSeconds);
    const day = dayOf(new Date());
    // Metered before the window is charged, so that concurrent requests cannot exceed the quota
    // together.
    this.#meter(bucket, ru, requests, day);
    const settle = ({ charged, remaining, window, endsInMs }: WindowState): Verdict => {
      const remainingRu = fromHundredths(remaining);
      const resetSeconds = Math.max(Math.ceil(endsInMs / 1000), 1);
      if (charged) return { remainingRu, resetSeconds, charge: { ru, window, day } };
      this.#meter(bucket, -ru, -requests, day);
      return { remainingRu, resetSeconds, refusal: 'rate_limit' };
    };
    const limit = { hundredths: toHundredths(bucket.rateRu), seconds: bucket.windowSeconds };
    return whenKnown(this.#windows.charge(bucket.name, limit, toHundredths(ru)), settle, (error) => {
      this.#meter(bucket, -ru, -requests, day);
      throw error;
    });
  }

  #meter({ apiKeyId }: Bucket, ru: number, requests: number, day: string): void {
    if (apiKeyId !== null) this.#usage.add(apiKeyId, ru, { requests, day });
  }

  /**
   * Returns whole seconds until the quota allows a cost, or undefined if it does now. To the usage
   * that was read with the key, it adds what this process has not written yet, so that one process
   * alone never exceeds a quota.
   */
  #findQuotaWait({ apiKeyId, quota }: Bucket, ru: number): number | undefined {
    if (quota === undefined || apiKeyId === null) return undefined;
    const now = new Date();
    const firstDay = firstDayOf(quota.period, now);
    // The usage of another period does not count.
    const writtenRu = quota.used.since === firstDay ? quota.used.ru : 0;
    const missingRu = this.#usage.missingRu(apiKeyId, firstDay, quota.used.asOf);
    const spent = toHundredths(writtenRu) + toHundredths(missingRu);
    if (spent + toHundredths(ru) <= toHundredths(quota.ru)) return undefined;
    return Math.ceil((endOf(quota.period, now).getTime() - now.getTime()) / 1000);
  }
}

const refuse = (refusal: RefusalReason, resetSeconds: number): Refused => ({ refusal, remainingRu: 0, resetSeconds });

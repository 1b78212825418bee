/**
 * Decides whether a request may run: rate limits, quotas and requests in flight of a bucket, which today belongs to a key. The interface is
 * asynchronous and its values are plain data, so that one process could coordinate several API workers.
 */
import type { QuotaPeriod } from '@kasgres/database';

/** Requests that are limited together. */
export interface Bucket {
  /** Unique among all buckets. */
  name: string;
  /** The key whose usage is metered; undefined if nobody is charged. */
  apiKeyId: bigint | undefined;
  rateRu: number;
  windowSeconds: number;
  /** Requests in flight at once. */
  concurrency: number;
  quota: Quota | undefined;
}

export interface Quota {
  ru: number;
  period: QuotaPeriod;
  /** The usage in the database when it was read at `asOf`, in the period that began on the day `since` (UTC). */
  used: { ru: number; since: string; asOf: number };
}

export type RefusalReason = 'concurrency' | 'quota' | 'rate_limit';

/** A charge, with what is needed to refund it. */
export interface Charge {
  ru: number;
  /** The window in which it was charged. */
  window: number | undefined;
  /** The day (UTC) on which it was metered. */
  day: string;
}

/** The state of the window after the request was charged or refused. */
export interface Standing {
  /** Request units left in the window. */
  remainingRu: number;
  /** Whole seconds until the window, or the period of the quota, ends; of a refusal, until a retry may succeed. */
  resetSeconds: number;
}

export interface Admitted extends Standing {
  refusal?: undefined;
  charge: Charge;
}

export interface Refused extends Standing {
  refusal: RefusalReason;
}

export type Verdict = Admitted | Refused;

export interface Limits {
  /**
   * Charges the cost of a request and counts it as in flight, or refuses it and charges nothing. Each admitted request must be released.
   * @throws HttpError 503 if the store is unavailable
   */
  admit(bucket: Bucket, ru: number): Promise<Verdict>;
  /**
   * Charges what a request in flight costs beyond its first charge. A refusal also refunds the first charge.
   * @throws HttpError 503 if the store is unavailable
   */
  chargeMore(bucket: Bucket, first: Charge, ru: number): Promise<Verdict>;
  release(bucket: Bucket): void;
  /** Writes the usage that is not written yet. */
  close(): Promise<void>;
}

/** Whole hundredths add up without the rounding of fractions. */
export const toHundredths = (ru: number): number => Math.round(ru * 100);

export const fromHundredths = (hundredths: number): number => hundredths / 100;

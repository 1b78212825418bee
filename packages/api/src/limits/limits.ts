/**
 * The one way to ask whether a request may run. Rate limits, quotas and requests in flight sit behind it, whoever is limited: today a
 * key, and anything else that has a bucket. It is asynchronous and its values are plain data, so that a process which coordinates
 * several API workers can serve it to them.
 */
import type { QuotaPeriod } from '@kasgres/database';

/** Whose requests are limited together, and how far. */
export interface Bucket {
  /** Unlike that of any other bucket, of whatever kind. */
  name: string;
  /** The key whose use is metered; undefined where nobody is charged. */
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
  /** The use that the database had, of the period that began on this day (UTC), when it was read. */
  used: { ru: number; since: string; asOf: number };
}

export type RefusalReason = 'concurrency' | 'quota' | 'rate_limit';

/** What was charged for a request, as it takes to give it back. */
export interface Charge {
  ru: number;
  /** The window of its bucket in which it was charged. */
  window: number | undefined;
  /** The day (UTC) on which it was metered. */
  day: string;
}

/** The state of the window, after the request was charged or refused. */
export interface Standing {
  /** Request units left in the window. */
  remainingRu: number;
  /** Whole seconds until the window, or the quota's period, has ended; of a refusal: after which to ask again. */
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
   * Charges what a request costs and counts it as in flight, or refuses it and charges nothing. Whatever is admitted is released.
   * @throws HttpError 503 if nobody can tell
   */
  admit(bucket: Bucket, ru: number): Promise<Verdict>;
  /**
   * Charges what a request in flight costs beyond an earlier charge. A refusal gives that back as well: what is refused costs nothing.
   * @throws HttpError 503 if nobody can tell
   */
  chargeMore(bucket: Bucket, earlier: Charge, ru: number): Promise<Verdict>;
  /** An admitted request is no longer in flight. */
  release(bucket: Bucket): void;
  /** Writes what is metered and not written yet. */
  close(): Promise<void>;
}

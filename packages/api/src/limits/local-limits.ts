/** Keeps limits in this process. Windows may be shared with other processes; requests in flight are counted per process. */
import { dayOf } from '@kasgres/database';
import {
  type Bucket,
  type Charge,
  fromHundredths,
  type Limits,
  type Refused,
  type RefusalReason,
  toHundredths,
  type Verdict,
} from './limits.ts';
import { Quotas } from './quota.ts';
import type { UsageMeter } from './usage-meter.ts';
import type { Windows } from './windows.ts';

/** Most requests take a fraction of this. */
const CONCURRENCY_RETRY_SECONDS = 1;

export class LocalLimits implements Limits {
  readonly #windows: Windows;
  readonly #usage: UsageMeter;
  readonly #quotas: Quotas;
  readonly #inFlight = new Map<string, number>();

  constructor({ windows, usage }: { windows: Windows; usage: UsageMeter }) {
    this.#windows = windows;
    this.#usage = usage;
    this.#quotas = new Quotas(usage);
  }

  async admit(bucket: Bucket, ru: number): Promise<Verdict> {
    const inFlight = this.#inFlight.get(bucket.name) ?? 0;
    if (inFlight >= bucket.concurrency) return refuse('concurrency', CONCURRENCY_RETRY_SECONDS);
    this.#inFlight.set(bucket.name, inFlight + 1);
    try {
      const verdict = await this.#charge(bucket, ru, 1);
      if (verdict.refusal !== undefined) this.release(bucket);
      return verdict;
    } catch (error) {
      this.release(bucket);
      throw error;
    }
  }

  async chargeMore(bucket: Bucket, first: Charge, ru: number): Promise<Verdict> {
    const verdict = await this.#charge(bucket, ru, 0);
    if (verdict.refusal !== undefined) this.#refund(bucket, first);
    return verdict;
  }

  release({ name }: Bucket): void {
    const left = (this.#inFlight.get(name) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(name, left);
    else this.#inFlight.delete(name);
  }

  close(): Promise<void> {
    return this.#usage.close();
  }

  async #charge(bucket: Bucket, ru: number, requests: number): Promise<Verdict> {
    const quotaSeconds = this.#quotas.reserve(bucket, ru);
    if (quotaSeconds !== undefined) return refuse('quota', quotaSeconds);
    try {
      const limit = { hundredths: toHundredths(bucket.rateRu), seconds: bucket.windowSeconds };
      const { charged, remaining, window, endsInMs } = await this.#windows.charge(bucket.name, limit, toHundredths(ru));
      const remainingRu = fromHundredths(remaining);
      const resetSeconds = Math.max(Math.ceil(endsInMs / 1000), 1);
      if (!charged) return { refusal: 'rate_limit', remainingRu, resetSeconds };
      const day = dayOf(new Date());
      if (bucket.apiKeyId !== undefined) this.#usage.add(bucket.apiKeyId, ru, { requests, day });
      return { charge: { ru, window, day }, remainingRu, resetSeconds };
    } finally {
      // By now the request is metered or refused.
      this.#quotas.release(bucket, ru);
    }
  }

  #refund({ name, apiKeyId }: Bucket, { ru, window, day }: Charge): void {
    if (window !== undefined) this.#windows.refund(name, window, toHundredths(ru));
    if (apiKeyId !== undefined) this.#usage.add(apiKeyId, -ru, { requests: -1, day });
  }
}

const refuse = (refusal: RefusalReason, resetSeconds: number): Refused => ({ refusal, remainingRu: 0, resetSeconds });

/**
 * Checks quotas: the request units of a key in a day or month (UTC). To the usage that was read from the database with the key, it adds what this
 * process has not written yet and what requests have reserved that are being admitted, so that one process alone never exceeds a quota.
 */
import { endOf, firstDayOf } from '@kasgres/database';
import { type Bucket, toHundredths } from './limits.ts';
import type { UsageMeter } from './usage-meter.ts';

export class Quotas {
  readonly #usage: Pick<UsageMeter, 'missingRu'>;
  /** Hundredths of a request unit by bucket. */
  readonly #reserved = new Map<string, number>();

  constructor(usage: Pick<UsageMeter, 'missingRu'>) {
    this.#usage = usage;
  }

  /**
   * Reserves a cost in the same turn of the event loop as the check. The reservation is released when the request is refused or metered.
   * @returns whole seconds until the quota allows this cost again; undefined if it was reserved, or there is no quota
   */
  reserve({ name, apiKeyId, quota }: Bucket, ru: number): number | undefined {
    if (quota === undefined || apiKeyId === undefined) return undefined;
    const now = new Date();
    const firstDay = firstDayOf(quota.period, now);
    // The usage of another period does not count.
    const writtenRu = quota.used.since === firstDay ? quota.used.ru : 0;
    const missingRu = this.#usage.missingRu(apiKeyId, firstDay, quota.used.asOf);
    const reserved = this.#reserved.get(name) ?? 0;
    const cost = toHundredths(ru);
    if (toHundredths(writtenRu) + toHundredths(missingRu) + reserved + cost > toHundredths(quota.ru)) {
      return Math.ceil((endOf(quota.period, now).getTime() - now.getTime()) / 1000);
    }
    this.#reserved.set(name, reserved + cost);
    return undefined;
  }

  release({ name, quota }: Bucket, ru: number): void {
    if (quota === undefined) return;
    const left = (this.#reserved.get(name) ?? 0) - toHundredths(ru);
    if (left > 0) this.#reserved.set(name, left);
    else this.#reserved.delete(name);
  }
}

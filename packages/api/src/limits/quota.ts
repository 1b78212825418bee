/**
 * Quotas: request units that a key may spend in a day or month (UTC). What all processes wrote of its use is read with the key; what
 * this one has not written yet, and what requests have reserved that are still being admitted, is added here. So one process alone never
 * lets a key go beyond its quota.
 */
import { endOf, firstDayOf } from '@kasgres/database';
import type { Bucket } from './limits.ts';
import { toHundredths } from './request-units.ts';
import type { UsageMeter } from './usage-meter.ts';

export class Quotas {
  readonly #usage: Pick<UsageMeter, 'missingRu'>;
  /** Hundredths by bucket. */
  readonly #reserved = new Map<string, number>();

  constructor(usage: Pick<UsageMeter, 'missingRu'>) {
    this.#usage = usage;
  }

  /**
   * Reserves what a request costs, in the same turn of the event loop as the check. A reservation is taken back when the request was
   * refused, or once it is metered.
   * @returns whole seconds until the quota allows this cost again; undefined if it was reserved, or there is no quota
   */
  reserve({ name, apiKeyId, quota }: Bucket, ru: number): number | undefined {
    if (quota === undefined || apiKeyId === undefined) return undefined;
    const now = new Date();
    const firstDay = firstDayOf(quota.period, now);
    // What was read before midnight says nothing of the new period.
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

  takeBack({ name, quota }: Bucket, ru: number): void {
    if (quota === undefined) return;
    const left = (this.#reserved.get(name) ?? 0) - toHundredths(ru);
    if (left > 0) this.#reserved.set(name, left);
    else this.#reserved.delete(name);
  }
}

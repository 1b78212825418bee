/**
 * Quotas: request units that a key may spend in a day or month (UTC). What all processes wrote of its use comes with the key; what this
 * one has not written yet is added here, so that one process alone never lets a key go beyond its quota.
 */
import { endOf, firstDayOf, type KeyInForce } from '@kasgres/database';
import { fromHundredths, toHundredths } from './request-units.ts';
import type { UsageMeter } from './usage-meter.ts';

/** Whole seconds until the quota allows this cost again; undefined when it does now, or when there is none. */
export function secondsUntilAllowed(
  { id, quota, used }: Pick<KeyInForce, 'id' | 'quota' | 'used'>,
  ru: number,
  usage: Pick<UsageMeter, 'unwrittenRu'>,
): number | undefined {
  if (quota === undefined) return undefined;
  const now = new Date();
  const firstDay = firstDayOf(quota.period, now);
  // What was looked up before midnight tells nothing of the new period.
  const writtenRu = used?.since === firstDay ? used.ru : 0;
  const spent = toHundredths(writtenRu) + toHundredths(usage.unwrittenRu(id, firstDay));
  if (fromHundredths(spent + toHundredths(ru)) <= quota.ru) return undefined;
  return Math.ceil((endOf(quota.period, now).getTime() - now.getTime()) / 1000);
}

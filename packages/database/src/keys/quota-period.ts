/** Days and months, in UTC: the periods of quotas and usage. */

export type QuotaPeriod = 'day' | 'month';

/** Returns a day such as `2026-01-31`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Returns the first day of the period that contains a time. */
export function firstDayOf(period: QuotaPeriod, time: Date): string {
  const day = dayOf(time);
  return period === 'day' ? day : `${day.slice(0, 8)}01`;
}

/** Returns the end of the period that contains a time. */
export function endOf(period: QuotaPeriod, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1));
}

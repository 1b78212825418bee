/** Days and months, in UTC, that quotas hold for and use is summed up by. */

export type QuotaPeriod = 'day' | 'month';

/** A day as the database has it, `2026-01-31`. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The first day of the period that a time lies in. */
export function firstDayOf(period: QuotaPeriod, time: Date): string {
  const day = dayOf(time);
  return period === 'day' ? day : `${day.slice(0, 8)}01`;
}

/** When the period that a time lies in is over. */
export function endOf(period: QuotaPeriod, time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1));
}

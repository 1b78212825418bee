/** Hours, days and months of UTC, each kind numbered from 1970 on, so that the next one has the next number. */
const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;

export const INTERVALS = ['hour', 'day', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

interface Numbering {
  /** Number of the interval that an hour (counted from 1970) is in. */
  ofHour: (hour: number) => number;
  /** First hour of an interval. */
  firstHour: (number: number) => number;
}

export const numberings: Record<Interval, Numbering> = {
  hour: { ofHour: (hour) => hour, firstHour: (number) => number },
  day: { ofHour: (hour) => Math.floor(hour / HOURS_PER_DAY), firstHour: (number) => number * HOURS_PER_DAY },
  month: { ofHour: monthOf, firstHour: (number) => Date.UTC(1970, number) / HOUR_MS },
};

function monthOf(hour: number): number {
  const time = new Date(toMilliseconds(hour));
  return (time.getUTCFullYear() - 1970) * 12 + time.getUTCMonth();
}

export const hourOf = (milliseconds: bigint): number => Number(milliseconds / BigInt(HOUR_MS));

export const toMilliseconds = (hour: number): number => hour * HOUR_MS;

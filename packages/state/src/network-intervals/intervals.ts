/** Intervals of the network's totals, and their beginnings. */
const INTERVAL_LENGTHS = { minute: 60_000n, hour: 3_600_000n, day: 86_400_000n } as const;

export type IntervalLength = keyof typeof INTERVAL_LENGTHS;

export const LENGTHS = Object.keys(INTERVAL_LENGTHS) as IntervalLength[];

export function startOfInterval(length: IntervalLength, time: bigint): bigint {
  return time - (time % INTERVAL_LENGTHS[length]);
}

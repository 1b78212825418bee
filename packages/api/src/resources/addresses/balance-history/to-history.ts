/** From changes of a balance to the balance at the end of every interval, those without a change too, but of none that ends in a gap. */
import { type Interval, numberings, toMilliseconds } from './intervals.ts';

export interface Change {
  /** Hours since 1970. */
  hour: number;
  /** In sompi. */
  change: bigint;
}

export interface BalanceAtEnd {
  /** End of the interval, which is the start of the next one, in Unix milliseconds. */
  timestamp: number;
  balance: string;
}

/** A stretch of time in which what changed is not indexed, in Unix milliseconds. */
export interface UnknownTime {
  from: number;
  to: number;
}

export interface HistoryParts {
  interval: Interval;
  /** First and last interval, by number. */
  first: number;
  last: number;
  /** Ascending; all since the start of the first interval. */
  changes: readonly Change[];
  /** After all changes, in sompi. */
  balance: bigint;
  unknown: readonly UnknownTime[];
}

export function toHistory({ interval, first, last, changes, balance, unknown }: HistoryParts): BalanceAtEnd[] {
  const { ofHour, firstHour } = numberings[interval];
  const byInterval = Map.groupBy(changes, ({ hour }) => ofHour(hour));
  const history: BalanceAtEnd[] = [];
  let running = balance - sumOf(changes);
  for (let number = first; number <= last; number += 1) {
    running += sumOf(byInterval.get(number) ?? []);
    const timestamp = toMilliseconds(firstHour(number + 1));
    if (!unknown.some(({ from, to }) => from < timestamp && timestamp <= to)) {
      history.push({ timestamp, balance: String(running) });
    }
  }
  return history;
}

function sumOf(changes: readonly Change[]): bigint {
  return changes.reduce((sum, { change }) => sum + change, 0n);
}

/** From changes of a balance to the balance at the end of every interval, those without a change too. */
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

export interface HistoryParts {
  interval: Interval;
  /** First and last interval, by number. */
  first: number;
  last: number;
  /** Ascending; all since the start of the first interval. */
  changes: readonly Change[];
  /** After all changes, in sompi. */
  balance: bigint;
}

export function toHistory({ interval, first, last, changes, balance }: HistoryParts): BalanceAtEnd[] {
  const { ofHour, firstHour } = numberings[interval];
  const byInterval = Map.groupBy(changes, ({ hour }) => ofHour(hour));
  const history: BalanceAtEnd[] = [];
  let running = balance - sumOf(changes);
  for (let number = first; number <= last; number += 1) {
    running += sumOf(byInterval.get(number) ?? []);
    history.push({ timestamp: toMilliseconds(firstHour(number + 1)), balance: String(running) });
  }
  return history;
}

function sumOf(changes: readonly Change[]): bigint {
  return changes.reduce((sum, { change }) => sum + change, 0n);
}

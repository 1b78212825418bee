import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BalanceDelta, INTERVALS, numberings, toHistory, toMilliseconds } from './balance-history.ts';

const hourAt = (iso: string): number => Math.floor(Date.parse(iso) / toMilliseconds(1));
const HOURS_OF_A_CENTURY = 24 * 365 * 100;
const hours = fc.integer({ min: 0, max: HOURS_OF_A_CENTURY });

describe('intervals', () => {
  it.each(INTERVALS)('assigns every hour to one %s', (interval) => {
    const { numberOf, firstHourOf } = numberings[interval];
    fc.assert(
      fc.property(hours, (hour) => {
        const number = numberOf(hour);
        expect(firstHourOf(number)).toBeLessThanOrEqual(hour);
        expect(firstHourOf(number + 1)).toBeGreaterThan(hour);
      }),
    );
  });

  it('uses calendar months, also in leap years', () => {
    const { numberOf, firstHourOf } = numberings.month;
    const february = numberOf(hourAt('2024-02-29T23:59:59Z'));
    expect(new Date(toMilliseconds(firstHourOf(february))).toISOString()).toBe('2024-02-01T00:00:00.000Z');
    expect(new Date(toMilliseconds(firstHourOf(february + 1))).toISOString()).toBe('2024-03-01T00:00:00.000Z');
    expect(numberOf(hourAt('2025-02-01T00:00:00Z'))).toBe(february + 12);
  });
});

describe('a history', () => {
  const day = (iso: string): number => numberings.day.numberOf(hourAt(iso));
  const deltas: BalanceDelta[] = [
    { hour: hourAt('2025-06-15T15:00:00Z'), change: 50n },
    { hour: hourAt('2025-06-15T16:00:00Z'), change: -20n },
    { hour: hourAt('2025-06-18T00:00:00Z'), change: -30n },
  ];

  it('has the balance at the end of each day, also without a change', () => {
    const history = toHistory({
      interval: 'day',
      first: day('2025-06-15T00:00:00Z'),
      last: day('2025-06-19T00:00:00Z'),
      deltas,
      balance: 0n,
      gaps: [],
    });
    expect(history.map(({ timestamp, balance }) => [new Date(timestamp).toISOString(), balance])).toEqual([
      ['2025-06-16T00:00:00.000Z', '30'],
      ['2025-06-17T00:00:00.000Z', '30'],
      ['2025-06-18T00:00:00.000Z', '30'],
      ['2025-06-19T00:00:00.000Z', '0'],
      ['2025-06-20T00:00:00.000Z', '0'],
    ]);
  });

  it('begins with the previous balance if it is truncated', () => {
    const first = day('2025-06-17T00:00:00Z');
    const history = toHistory({
      interval: 'day',
      first,
      last: first + 1,
      deltas: deltas.slice(2),
      balance: 0n,
      gaps: [],
    });
    expect(history.map(({ balance }) => balance)).toEqual(['30', '0']);
  });

  it('omits intervals that end in a gap', () => {
    const history = toHistory({
      interval: 'day',
      first: day('2025-06-15T00:00:00Z'),
      last: day('2025-06-18T00:00:00Z'),
      deltas,
      balance: 0n,
      gaps: [{ from: Date.parse('2025-06-16T00:00:00Z'), to: Date.parse('2025-06-18T00:00:00Z') }],
    });
    expect(history.map(({ timestamp, balance }) => [new Date(timestamp).toISOString(), balance])).toEqual([
      ['2025-06-16T00:00:00.000Z', '30'],
      ['2025-06-19T00:00:00.000Z', '0'],
    ]);
  });

  const change = fc.record({
    hour: fc.integer({ min: 480_000, max: 482_000 }),
    change: fc.bigInt({ min: 0n, max: 100n }),
  });
  const someDeltas = fc.array(change, { minLength: 1 }).map((unsorted) => unsorted.toSorted((a, b) => a.hour - b.hour));

  it.each(INTERVALS)('has the sum of all previous deltas at the end of every %s', (interval) => {
    const { numberOf } = numberings[interval];
    fc.assert(
      fc.property(someDeltas, (ascending) => {
        const sumBefore = (timestamp: number): bigint =>
          ascending.reduce((sum, entry) => (toMilliseconds(entry.hour) < timestamp ? sum + entry.change : sum), 0n);
        const balance = sumBefore(Infinity);
        const first = numberOf(ascending[0]?.hour ?? 0);
        const last = numberOf(ascending.at(-1)?.hour ?? 0);
        const history = toHistory({ interval, first, last, deltas: ascending, balance, gaps: [] });
        expect(history).toHaveLength(last - first + 1);
        expect(history.at(-1)?.balance).toBe(String(balance));
        expect(history.map((entry) => entry.balance)).toEqual(
          history.map(({ timestamp }) => String(sumBefore(timestamp))),
        );
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hourOf, INTERVALS, numberings, toMilliseconds } from './intervals.ts';
import { type Change, toHistory } from './to-history.ts';

const hourAt = (iso: string): number => hourOf(BigInt(Date.parse(iso)));
const HOURS_OF_A_CENTURY = 24 * 365 * 100;
const hours = fc.integer({ min: 0, max: HOURS_OF_A_CENTURY });

describe('intervals', () => {
  test.each(INTERVALS)('every hour is in the %s with its number, and not in the next', (interval) => {
    const { ofHour, firstHour } = numberings[interval];
    fc.assert(
      fc.property(hours, (hour) => {
        const number = ofHour(hour);
        expect(firstHour(number)).toBeLessThanOrEqual(hour);
        expect(firstHour(number + 1)).toBeGreaterThan(hour);
      }),
    );
  });

  test('months are those of the calendar, leap years too', () => {
    const { ofHour, firstHour } = numberings.month;
    const february = ofHour(hourAt('2024-02-29T23:59:59Z'));
    expect(new Date(toMilliseconds(firstHour(february))).toISOString()).toBe('2024-02-01T00:00:00.000Z');
    expect(new Date(toMilliseconds(firstHour(february + 1))).toISOString()).toBe('2024-03-01T00:00:00.000Z');
    expect(ofHour(hourAt('2025-02-01T00:00:00Z'))).toBe(february + 12);
  });
});

describe('a history', () => {
  const day = (iso: string): number => numberings.day.ofHour(hourAt(iso));
  const changes: Change[] = [
    { hour: hourAt('2025-06-15T15:00:00Z'), change: 50n },
    { hour: hourAt('2025-06-15T16:00:00Z'), change: -20n },
    { hour: hourAt('2025-06-18T00:00:00Z'), change: -30n },
  ];

  test('has the balance at the end of each day, those without a change too', () => {
    const history = toHistory({
      interval: 'day',
      first: day('2025-06-15T00:00:00Z'),
      last: day('2025-06-19T00:00:00Z'),
      changes,
      balance: 0n,
      unknown: [],
    });
    expect(history.map(({ timestamp, balance }) => [new Date(timestamp).toISOString(), balance])).toEqual([
      ['2025-06-16T00:00:00.000Z', '30'],
      ['2025-06-17T00:00:00.000Z', '30'],
      ['2025-06-18T00:00:00.000Z', '30'],
      ['2025-06-19T00:00:00.000Z', '0'],
      ['2025-06-20T00:00:00.000Z', '0'],
    ]);
  });

  test('that is cut off begins with what was there before', () => {
    const first = day('2025-06-17T00:00:00Z');
    const history = toHistory({
      interval: 'day',
      first,
      last: first + 1,
      changes: changes.slice(2),
      balance: 0n,
      unknown: [],
    });
    expect(history.map(({ balance }) => balance)).toEqual(['30', '0']);
  });

  test('leaves out the ends of intervals in a gap', () => {
    const history = toHistory({
      interval: 'day',
      first: day('2025-06-15T00:00:00Z'),
      last: day('2025-06-18T00:00:00Z'),
      changes,
      balance: 0n,
      unknown: [{ from: Date.parse('2025-06-16T00:00:00Z'), to: Date.parse('2025-06-18T00:00:00Z') }],
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
  const someChanges = fc
    .array(change, { minLength: 1 })
    .map((unsorted) => unsorted.toSorted((a, b) => a.hour - b.hour));

  test.each(INTERVALS)('by the %s is, at any end, the sum of all changes before it', (interval) => {
    const { ofHour } = numberings[interval];
    fc.assert(
      fc.property(someChanges, (ascending) => {
        const sumBefore = (timestamp: number): bigint =>
          ascending.reduce((sum, entry) => (toMilliseconds(entry.hour) < timestamp ? sum + entry.change : sum), 0n);
        const balance = sumBefore(Infinity);
        const first = ofHour(ascending[0]?.hour ?? 0);
        const last = ofHour(ascending.at(-1)?.hour ?? 0);
        const history = toHistory({ interval, first, last, changes: ascending, balance, unknown: [] });
        expect(history).toHaveLength(last - first + 1);
        expect(history.at(-1)?.balance).toBe(String(balance));
        expect(history.map((entry) => entry.balance)).toEqual(
          history.map(({ timestamp }) => String(sumBefore(timestamp))),
        );
      }),
    );
  });
});

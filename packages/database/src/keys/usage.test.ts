import { expect, test } from 'vitest';
import { dayOf, endOf, firstDayOf } from './usage.ts';

const at = (time: string) => new Date(time);

test('a day ends at midnight in UTC', () => {
  expect(dayOf(at('2026-01-31T23:59:59.999Z'))).toBe('2026-01-31');
  expect(firstDayOf('day', at('2026-01-31T23:59:59.999Z'))).toBe('2026-01-31');
  expect(endOf('day', at('2026-01-31T00:00:00Z'))).toEqual(at('2026-02-01T00:00:00Z'));
  expect(endOf('day', at('2025-12-31T23:59:59.999Z'))).toEqual(at('2026-01-01T00:00:00Z'));
});

test('a month begins on its first day and ends with its last', () => {
  expect(firstDayOf('month', at('2028-02-29T12:00:00Z'))).toBe('2028-02-01');
  expect(endOf('month', at('2028-02-29T12:00:00Z'))).toEqual(at('2028-03-01T00:00:00Z'));
  expect(endOf('month', at('2026-12-31T23:59:59.999Z'))).toEqual(at('2027-01-01T00:00:00Z'));
});

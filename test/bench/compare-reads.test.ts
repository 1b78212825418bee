import { expect, it } from 'vitest';
import { compareRates, isBelowBound } from '../../bench/compare-reads.ts';

it('compares the medians of the reads that both sides have, and finds those below 0.95', () => {
  const before = new Map([
    ['sink', [100, 90, 500]],
    ['block', [100, 100, 100]],
    ['gone', [1]],
  ]);
  const now = new Map([
    ['sink', [96, 10, 95]],
    ['block', [50, 75, 200]],
    ['new', [1]],
  ]);
  const compared = compareRates(before, now);
  expect(compared).toEqual([
    { name: 'sink', before: 100, now: 95, ratio: 0.95 },
    { name: 'block', before: 100, now: 75, ratio: 0.75 },
  ]);
  expect(compared.filter(isBelowBound).map(({ name }) => name)).toEqual(['block']);
});

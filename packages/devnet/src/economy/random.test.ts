import { expect, test } from 'vitest';
import { type Label, Random } from './random.ts';

const DRAWS = 20_000;

test('random numbers are determined by the seed and all labels', () => {
  expect(draw('a', 1)).toEqual(draw('a', 1));
  expect(draw('a', 1)).not.toEqual(draw('a', 2));
  expect(draw('a', 1)).not.toEqual(draw('b', 1));
});

test('random numbers are uniformly distributed', () => {
  const random = new Random('spread');
  expect(mean(() => random.fraction())).toBeCloseTo(0.5, 1);
  expect(mean(() => random.poisson(1.2))).toBeCloseTo(1.2, 1);
  expect(mean(() => Number(random.chance(0.2)))).toBeCloseTo(0.2, 1);
  expect(mean(() => random.between(3, 5))).toBeCloseTo(4, 1);
});

test('skewed indexes prefer the first ones and reach the last', () => {
  const random = new Random('skewed');
  const places = Array.from({ length: DRAWS }, () => random.skewed(100));
  expect([Math.min(...places), Math.max(...places)]).toEqual([0, 99]);
  expect(places.filter((place) => place === 0).length).toBeGreaterThan(
    places.filter((place) => place === 9).length * 4,
  );
});

function draw(...labels: Label[]): number[] {
  const random = new Random(...labels);
  return Array.from({ length: 5 }, () => random.fraction());
}

function mean(next: () => number): number {
  return Array.from({ length: DRAWS }, next).reduce((a, b) => a + b, 0) / DRAWS;
}

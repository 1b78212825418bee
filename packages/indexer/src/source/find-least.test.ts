import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLeast } from './chain-requests.ts';

test('finds the least, and asks about twice the logarithm of it', async () => {
  const cases = fc.asyncProperty(fc.integer({ min: 1, max: 500_000 }), fc.nat(500_000), async (least, max) => {
    const asked: number[] = [];
    const found = await findLeast(max, async (candidate) => {
      asked.push(candidate);
      return candidate >= least;
    });
    expect(found).toBe(least <= max ? least : undefined);
    expect(asked.every((candidate) => candidate >= 1 && candidate <= max)).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(Math.min(least, max + 1))) + 2);
  });
  await fc.assert(cases);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber } from './exact-number.ts';

test('every unsigned 64-bit number is written with all its digits', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (value) => {
      expect(JSON.stringify({ sequence: exactNumber(value) })).toBe(`{"sequence":${value}}`);
    }),
  );
});

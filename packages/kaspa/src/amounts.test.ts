import { expect, test } from 'vitest';
import { formatKas, MAX_SOMPI } from './amounts.ts';

test.each([
  [0n, '0'],
  [1n, '0.00000001'],
  [100_000_000n, '1'],
  [150_000_000n, '1.5'],
  [10_000_000_010n, '100.0000001'],
  [-1n, '-0.00000001'],
  [-1_250_000_000n, '-12.5'],
  [MAX_SOMPI, '29000000000'],
  [2n ** 64n - 1n, '184467440737.09551615'],
])('%i sompi are %s KAS', (sompi, text) => {
  expect(formatKas(sompi)).toBe(text);
});

import { expect, test } from 'vitest';
import { networkHashesPerSecond } from './hash-rate.ts';

/** Two windows of a recorded simnet, and what its node answered. */
test.each([
  [{ minBlueWork: 250n, maxBlueWork: 2246n, minTimestamp: 1_795_226_607_990n, maxTimestamp: 1_795_226_640_820n }, 62n],
  [{ minBlueWork: 2n, maxBlueWork: 2246n, minTimestamp: 1_795_226_607_186n, maxTimestamp: 1_795_226_640_820n }, 68n],
])('equals the answer of a node: %o', (window, expected) => {
  expect(networkHashesPerSecond(window)).toBe(expected);
});

test('counts whole seconds, and is nothing below one', () => {
  const window = { minBlueWork: 0n, maxBlueWork: 1000n, minTimestamp: 0n };
  expect(networkHashesPerSecond({ ...window, maxTimestamp: 999n })).toBe(0n);
  expect(networkHashesPerSecond({ ...window, maxTimestamp: 1999n })).toBe(1000n);
});

test('keeps 64 bits, as the node does', () => {
  const window = { minBlueWork: 0n, maxBlueWork: 2n ** 64n + 5n, minTimestamp: 0n, maxTimestamp: 1000n };
  expect(networkHashesPerSecond(window)).toBe(5n);
});

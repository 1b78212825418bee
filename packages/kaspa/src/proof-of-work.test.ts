import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  difficultyFromBits,
  formatBlueWork,
  networkHashesPerSecond,
  parseBlueWork,
  targetFromBits,
  workFromBits,
} from './proof-of-work.ts';
import { recordedBlocks } from './testing/recorded-blocks.ts';

describe('recorded blocks', () => {
  test('have the difficulty of the node', () => {
    for (const { header, verboseData } of recordedBlocks) {
      expect(difficultyFromBits(header.bits)).toBe(verboseData.difficulty);
    }
  });

  test('have the blue work of as many blocks as their blue score', () => {
    for (const { header } of recordedBlocks) {
      expect(parseBlueWork(header.blueWork)).toBe(BigInt(header.blueScore) * workFromBits(header.bits));
    }
  });
});

describe('bits', () => {
  test.each([
    [0x207fffff, 0x7fffffn << 232n],
    [0x1d02ca33, 0x02ca33n << 208n],
    [0x03123456, 0x123456n],
    [0x02123456, 0x1234n],
    [0x01123456, 0x12n],
    [0x00123456, 0n],
    [0x20800000, 0n],
    [0xff7fffff, 0n],
  ])('%i is a target', (bits, target) => {
    expect(targetFromBits(bits)).toBe(target);
  });

  test('give work of twice the difficulty, since the easiest target is half of all hashes', () => {
    expect(workFromBits(0x1d02ca33)).toBe(2n ** 256n / ((0x02ca33n << 208n) + 1n));
    expect(difficultyFromBits(0x1d02ca33)).toBeCloseTo(Number(workFromBits(0x1d02ca33)) / 2, -3);
  });

  test('of target zero have infinite difficulty', () => {
    expect(difficultyFromBits(0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('blue work', () => {
  test('is parsed from its formatted text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 192n - 1n }), (blueWork) => {
        expect(parseBlueWork(formatBlueWork(blueWork))).toBe(blueWork);
      }),
    );
  });

  test('is formatted without leading zeros and parsed with them', () => {
    expect(formatBlueWork(0n)).toBe('0');
    expect(formatBlueWork(738n)).toBe('2e2');
    expect(parseBlueWork('2e2'.padStart(48, '0'))).toBe(738n);
  });

  test.each(['', '0x2e2', '-1', '2e2 ', 'xyz', 'f'.repeat(49)])('is not %j', (text) => {
    expect(() => parseBlueWork(text)).toThrow(RangeError);
  });
});

/** Two windows of a recorded simnet, and the response of its node. */
test.each([
  [{ minBlueWork: 250n, maxBlueWork: 2246n, minTimestamp: 1_795_226_607_990n, maxTimestamp: 1_795_226_640_820n }, 62n],
  [{ minBlueWork: 2n, maxBlueWork: 2246n, minTimestamp: 1_795_226_607_186n, maxTimestamp: 1_795_226_640_820n }, 68n],
])('the hash rate equals that of the node: %o', (window, expected) => {
  expect(networkHashesPerSecond(window)).toBe(expected);
});

test('the hash rate counts whole seconds, and is 0 below one', () => {
  const window = { minBlueWork: 0n, maxBlueWork: 1000n, minTimestamp: 0n };
  expect(networkHashesPerSecond({ ...window, maxTimestamp: 999n })).toBe(0n);
  expect(networkHashesPerSecond({ ...window, maxTimestamp: 1999n })).toBe(1000n);
});

test('the hash rate keeps 64 bits, as the node does', () => {
  const window = { minBlueWork: 0n, maxBlueWork: 2n ** 64n + 5n, minTimestamp: 0n, maxTimestamp: 1000n };
  expect(networkHashesPerSecond(window)).toBe(5n);
});

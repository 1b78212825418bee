import { describe, expect, test } from 'vitest';
import { estimateTimestamp } from './daa-timestamp.ts';
import { getNetwork } from './networks.ts';

const BLOCK_TIME_MS = 100;

/** The samples of a simnet node with 140 chain blocks, and what it answered. */
describe('a recorded node', () => {
  const samples = [
    { daaScore: 0n, timestamp: 1_633_687_894_966n },
    { daaScore: 117n, timestamp: 1_795_226_607_931n },
    { daaScore: 235n, timestamp: 1_795_226_608_884n },
    { daaScore: 355n, timestamp: 1_795_226_610_038n },
    { daaScore: 361n, timestamp: 1_795_226_610_124n },
  ];

  test.each([
    [0n, 1_633_687_894_966n],
    [1n, 1_635_068_567_726n],
    [2n, 1_636_449_240_486n],
    [52n, 1_705_482_878_506n],
    [121n, 1_795_226_607_963n],
    [182n, 1_795_226_608_455n],
    [264n, 1_795_226_609_162n],
    [363n, 1_795_226_610_324n],
    [364n, 1_795_226_610_424n],
    [365n, 1_795_226_610_524n],
    [1_364n, 1_795_226_710_424n],
    [1_000_364n, 1_795_326_610_424n],
    [1_000_000_000_000n, 101_795_226_574_024n],
  ])('score %i', (daaScore, timestamp) => {
    expect(estimateTimestamp(daaScore, samples, BLOCK_TIME_MS)).toBe(timestamp);
  });
});

test('a score below the first point has its time', () => {
  expect(estimateTimestamp(5n, [{ daaScore: 10n, timestamp: 700n }], BLOCK_TIME_MS)).toBe(700n);
});

test('time that runs backwards counts as none', () => {
  const points = [
    { daaScore: 0n, timestamp: 900n },
    { daaScore: 10n, timestamp: 800n },
  ];
  expect(estimateTimestamp(5n, points, BLOCK_TIME_MS)).toBe(900n);
});

test('a time beyond 64 bits stays at their end', () => {
  expect(estimateTimestamp(2n ** 64n - 1n, [{ daaScore: 0n, timestamp: 0n }], BLOCK_TIME_MS)).toBe(2n ** 64n - 1n);
});

test("between mainnet's points before its genesis", () => {
  const { daaTimestamps, targetTimePerBlockMs } = getNetwork('mainnet');
  const middle = estimateTimestamp(43_566n, daaTimestamps, targetTimePerBlockMs);
  expect(middle).toBeGreaterThan(1_636_298_787_842n);
  expect(middle).toBeLessThan(1_636_386_662_010n);
});

test('no point is an error', () => {
  expect(() => estimateTimestamp(5n, [], BLOCK_TIME_MS)).toThrow(RangeError);
});

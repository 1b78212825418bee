import { describe, expect, test } from 'vitest';
import { estimateTimestamp, spreadDaaScores } from './daa-timestamp.ts';
import { getNetwork } from './networks.ts';

const PACE = { targetTimePerBlockMs: 100 };

/** The samples of a simnet node with 140 chain blocks, and its responses. */
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
    expect(estimateTimestamp(daaScore, samples, PACE)).toBe(timestamp);
  });
});

test('a score below the first point has the time of that point', () => {
  expect(estimateTimestamp(5n, [{ daaScore: 10n, timestamp: 700n }], PACE)).toBe(700n);
});

test('a later point with an earlier timestamp counts as simultaneous', () => {
  const points = [
    { daaScore: 0n, timestamp: 900n },
    { daaScore: 10n, timestamp: 800n },
  ];
  expect(estimateTimestamp(5n, points, PACE)).toBe(900n);
});

test('a time beyond 64 bits is clamped', () => {
  expect(estimateTimestamp(2n ** 64n - 1n, [{ daaScore: 0n, timestamp: 0n }], PACE)).toBe(2n ** 64n - 1n);
});

test("between mainnet's points before its genesis", () => {
  const mainnet = getNetwork('mainnet');
  const middle = estimateTimestamp(43_566n, mainnet.daaTimestamps, mainnet);
  expect(middle).toBeGreaterThan(1_636_298_787_842n);
  expect(middle).toBeLessThan(1_636_386_662_010n);
});

test('it throws if there is no point', () => {
  expect(() => estimateTimestamp(5n, [], PACE)).toThrow(RangeError);
});

describe('across the change from one block a second to ten', () => {
  const mainnet = getNetwork('mainnet');
  const fourteenMonthsLater = Date.UTC(2026, 6, 1);
  const first = {
    daaScore: 110_165_000n + BigInt((fourteenMonthsLater - Date.UTC(2025, 4, 5, 15)) / 100),
    timestamp: BigInt(fourteenMonthsLater),
  };
  const points = [...mainnet.daaTimestamps, first];
  const dateOf = (daaScore: bigint): Date => new Date(Number(estimateTimestamp(daaScore, points, mainnet)));

  test.each([
    [50_000_000n, '2023-06-01', '2023-06-30'],
    [87_768_050n, '2024-08-18', '2024-08-20'],
    [110_165_000n, '2025-05-04', '2025-05-06'],
  ])('score %i is in time by nothing but its genesis and a block of 2026', (daaScore, from, to) => {
    expect(+dateOf(daaScore)).toBeGreaterThanOrEqual(Date.parse(from));
    expect(+dateOf(daaScore)).toBeLessThan(Date.parse(to) + 86_400_000);
  });

  test('times ascend with scores', () => {
    const scores = spreadDaaScores(0n, first.daaScore, 5_000, mainnet);
    const times = scores.map((score) => estimateTimestamp(score, points, mainnet));
    expect(times).toEqual(times.toSorted((a, b) => Number(a - b)));
  });

  test('scores are spread evenly in time', () => {
    const scores = spreadDaaScores(mainnet.genesisDaaScore, first.daaScore, 1_000, mainnet);
    expect(scores).toHaveLength(1_000);
    const times = scores.map((score) => Number(estimateTimestamp(score, points, mainnet)));
    const steps = times.slice(1).map((time, index) => time - (times[index] as number));
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(1.05);
  });
});

test('it returns at most the existing scores between two scores', () => {
  expect(spreadDaaScores(5n, 9n, 1_000, PACE)).toEqual([6n, 7n, 8n]);
  expect(spreadDaaScores(5n, 6n, 1_000, PACE)).toEqual([]);
  expect(spreadDaaScores(5n, 5n, 1_000, PACE)).toEqual([]);
});

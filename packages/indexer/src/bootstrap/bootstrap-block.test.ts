import { getNetwork } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { blueScoreOfMove, bootstrapTiming, isNear } from './bootstrap-block.ts';

const mainnet = getNetwork('mainnet');

test('it expects the move when the sink is a pruning depth above the next multiple of the finality depth', () => {
  expect(blueScoreOfMove(0n, mainnet)).toBe(432_000n + 1_080_000n);
  expect(blueScoreOfMove(431_999n, mainnet)).toBe(432_000n + 1_080_000n);
  // The first chain block that reaches the multiple may be some blue scores above it.
  expect(blueScoreOfMove(432_000n, mainnet)).toBe(864_000n + 1_080_000n);
  expect(blueScoreOfMove(432_123n, mainnet)).toBe(864_000n + 1_080_000n);
  expect(blueScoreOfMove(450n, { ...mainnet, finalityDepth: 200n, pruningDepth: 450n })).toBe(600n + 450n);
});

test('it counts a move as near from about 1.45 million blue scores of depth', () => {
  const move = blueScoreOfMove(432_000n * 100n, mainnet);
  const leftAtDepth = (depth: bigint): bigint => move - (432_000n * 100n + depth);
  expect(isNear(leftAtDepth(1_450_000n), mainnet)).toBe(false);
  expect(isNear(leftAtDepth(1_451_000n), mainnet)).toBe(true);
  expect(isNear(leftAtDepth(1_512_000n), mainnet)).toBe(true);
  expect(isNear(leftAtDepth(1_600_000n), mainnet)).toBe(false);
});

test('it pauses for minutes on the public networks, and for parts of a second on small ones', () => {
  expect(bootstrapTiming(mainnet)).toEqual({
    rereadPausesMs: [60_000, 300_000, 600_000],
    pollMs: 60_000,
    settleMs: 120_000,
    standstillMs: 3_600_000,
  });
  const small = bootstrapTiming({ finalityDepth: 200n, targetTimePerBlockMs: 100 });
  expect(Math.max(...small.rereadPausesMs)).toBeLessThan(300);
});

import { expect, test } from 'vitest';
import { subsidyAt } from './emission.ts';
import { getNetwork } from './networks.ts';

const mainnet = getNetwork('mainnet');
const DEFLATION = 15_519_600n;
const MONTH = 2_629_800n;

test.each([
  [0n, 50_000_000_000n],
  [DEFLATION - 1n, 50_000_000_000n],
  [DEFLATION, 44_000_000_000n],
  [DEFLATION + MONTH, 41_530_469_757n],
  [DEFLATION + 12n * MONTH, 22_000_000_000n],
  [DEFLATION + 35n * MONTH, 5_827_047_018n],
])('before Crescendo, blocks of mainnet at DAA score %i mint %i sompi', (daaScore, subsidy) => {
  expect(subsidyAt(mainnet, daaScore).subsidy).toBe(subsidy);
});

test('from Crescendo on, ten blocks share what one minted, rounded up', () => {
  const { activationDaaScore } = mainnet.crescendo as { activationDaaScore: bigint };
  const before = subsidyAt(mainnet, activationDaaScore - 1n);
  expect(before).toEqual({ subsidy: 5_827_047_018n, endDaaScore: activationDaaScore });
  expect(subsidyAt(mainnet, activationDaaScore).subsidy).toBe(582_704_702n);
});

test('the end of a subsidy is where the next one begins', () => {
  let daaScore = 0n;
  let reductions = 0;
  let last = 10n ** 12n;
  for (;;) {
    const { subsidy, endDaaScore } = subsidyAt(mainnet, daaScore);
    expect(subsidy).toBeLessThanOrEqual(last);
    if (endDaaScore === undefined) break;
    expect(subsidyAt(mainnet, endDaaScore - 1n).subsidy).toBe(subsidy);
    last = subsidy;
    daaScore = endDaaScore;
    reductions += 1;
  }
  // The half year before deflation, 425 months, one of them divided by Crescendo.
  expect(reductions).toBe(427);
  expect(subsidyAt(mainnet, daaScore).subsidy).toBe(0n);
});

test('networks that began with ten blocks a second mint as much per second', () => {
  const simnet = getNetwork('simnet');
  expect(subsidyAt(simnet, 0n)).toEqual({ subsidy: 5_000_000_000n, endDaaScore: 155_196_000n });
  expect(subsidyAt(simnet, 155_196_000n).subsidy).toBe(4_400_000_000n);
});

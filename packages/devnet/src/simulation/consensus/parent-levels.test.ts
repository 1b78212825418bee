import { expect, test } from 'vitest';
import { scriptOf } from '../testing/hand-made.ts';
import { DEFAULT_OPTIONS } from '../../economy/options.ts';
import { makePast } from '../generator/simulation.ts';
import { openSimulatedDag } from '../simulated-dag.ts';
import { MAINNET_LEVELS } from './parent-levels.ts';

test('it makes headers with the parent levels of mainnet, and accepts submitted ones', async () => {
  const simulatedDag = openSimulatedDag({
    options: { ...DEFAULT_OPTIONS, seed: 'levels', width: 5.5 },
    blockLevels: MAINNET_LEVELS,
    now: Date.now,
  });
  await makePast(simulatedDag, { pastBlocks: 300, pastTransactions: 0, blocksPerSecond: 10 });
  const { node } = simulatedDag;
  const { header, transactions } = node.blockTemplate(scriptOf(10), new Uint8Array(0));
  const { parentsByLevel } = header;
  expect(parentsByLevel).toHaveLength(54);
  const [direct = []] = parentsByLevel;
  expect(direct.length).toBeGreaterThan(2);
  expect(parentsByLevel.slice(0, 25).every((parents) => parents === direct)).toBe(true);
  // Above the levels that every block has, fewer and fewer blocks are of a level.
  expect(parentsByLevel[30]?.length).toBeLessThan(direct.length);
  expect(parentsByLevel.at(-1)).toHaveLength(1);
  expect(node.submitBlock(header, transactions)).toBe('accepted');
  simulatedDag.close();
});

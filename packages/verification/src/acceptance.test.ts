import { expect, it } from 'vitest';
import { walkMergeSet, withinMemory } from './acceptance.ts';

const ids = (from: number, count: number): bigint[] => Array.from({ length: count }, (_, n) => BigInt(from + n));

it('notes thousands of skipped instances in time and memory that grow with their number alone', () => {
  const [parents, children] = [ids(1, 1500), ids(2000, 1500)];
  // Ninety blocks carry the children before the parents that they spend.
  const early = Array.from({ length: 90 }, () => children);
  const blocks = [[0n], ...early, parents, children];
  const accepted = [0n, ...parents, ...children];
  const carried = {
    index: 7n,
    transactions: blocks.flat(),
    variants: blocks.flat().map(() => 0),
    blocks: blocks.flatMap((block, position) => block.map(() => position)),
  };
  const row = { index: 7n, is_bootstrap: false, accepted, variants: accepted.map(() => 0) };
  const before = process.memoryUsage().heapUsed;
  const { faults, skipped } = walkMergeSet(row, carried);
  expect((process.memoryUsage().heapUsed - before) / skipped.length).toBeLessThan(1000);
  expect(faults).toEqual([]);
  expect(skipped).toHaveLength(90 * children.length);
  const { isLater } = skipped[0] as (typeof skipped)[number];
  expect([0n, 1n, 2000n, 9999n].map(isLater)).toEqual([false, true, true, false]);
});

it('checks at least one chain block at once, and no more than memory allows', () => {
  const rows = [5, 1, 1, 2].map((carried) => ({ carried }));
  expect(withinMemory(rows, 9)).toHaveLength(4);
  expect(withinMemory(rows, 8)).toHaveLength(3);
  expect(withinMemory(rows, 5)).toHaveLength(1);
  expect(withinMemory(rows, 1)).toHaveLength(1);
  expect(withinMemory([], 1)).toEqual([]);
});

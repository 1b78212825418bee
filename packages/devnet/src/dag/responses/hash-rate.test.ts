import { getNetwork } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import { SmallDag } from '../testing/small-dag.ts';
import { hashesPerSecond } from './hash-rate.ts';

const simnet = getNetwork('simnet');

describe('estimateNetworkHashesPerSecond', () => {
  test('divides blue work by seconds over the window of the heaviest blocks', () => {
    const small = new SmallDag();
    const last = small.addChain('a', 'genesis', 1200);
    small.setVirtual([last]);
    // A thousand blocks of work 2 each, 100 ms apart: 999 steps of work in 99 whole seconds.
    expect(rate(small, { windowSize: 1000 })).toBe((999n * 2n) / 99n);
    expect(rate(small, { windowSize: 10_000 })).toBe((1199n * 2n) / 119n);
  });

  test('uses only the past of the start block, without the block itself and genesis', () => {
    const small = new SmallDag();
    small.setVirtual([small.addChain('a', 'genesis', 1002)]);
    expect(rate(small, { start: 'a1001' })).toBe((999n * 2n) / 99n);
    expect(() => rate(small, { start: 'a1000' })).toThrow(
      'difficulty error: under min allowed window size (999 < 1000)',
    );
    expect(() => rate(small, { start: 'genesis' })).toThrow('difficulty error: window data has only 0 entries');
  });

  test('includes blocks that the virtual block merges besides the sink', () => {
    const small = new SmallDag();
    const last = small.addChain('a', 'genesis', 999);
    small.setVirtual([last]);
    expect(() => rate(small, {})).toThrow('(999 < 1000)');
    small.add('tail', { parents: ['a998'] });
    small.setVirtual([last, 'tail']);
    expect(rate(small, {})).toBeGreaterThan(0n);
  });

  test('omits blocks that were merged too late to count for the difficulty', () => {
    // The late block has blue score 1, which is just in the window of the one merging block and
    // just below that of the other.
    const small = new SmallDag();
    const last = small.addChain('a', 'genesis', 999);
    small.add('late', { parents: ['genesis'] });
    small.add('merges in time', { parents: [last, 'late'], blueScore: simnet.difficultyWindowBlueScores + 1n });
    small.add('merges too late', { parents: [last, 'late'], blueScore: simnet.difficultyWindowBlueScores + 2n });
    small.setVirtual(['merges in time']);
    expect(rate(small, { start: 'merges in time' })).toBeGreaterThan(0n);
    expect(() => rate(small, { start: 'merges too late' })).toThrow('(999 < 1000)');
  });

  test('refuses the windows that kaspad refuses', () => {
    const small = new SmallDag();
    expect(() => rate(small, { windowSize: 10_001 })).toThrow(
      'Requested window size 10001 is larger than max 10000 allowed in RPC safe mode.',
    );
    expect(() => rate(small, { windowSize: 1_080_001, isUnsafeRpc: true })).toThrow(
      'Requested window size 1080001 is larger than pruning point depth 1080000.',
    );
    expect(() => rate(small, {})).toThrow('difficulty error: under min allowed window size (0 < 1000)');
  });

  test('has no rate if the window spans no time', () => {
    const small = new SmallDag();
    let last = 'genesis';
    for (let place = 1; place <= 1000; place++) {
      small.add(`a${place}`, { parents: [last], timestamp: 5n });
      last = `a${place}`;
    }
    small.setVirtual([last]);
    expect(() => rate(small, {})).toThrow(
      'difficulty error: min window timestamp is equal to the max window timestamp',
    );
  });
});

function rate(
  small: SmallDag,
  { start, windowSize = 1000, isUnsafeRpc = false }: { start?: string; windowSize?: number; isUnsafeRpc?: boolean },
): bigint {
  const block = start === undefined ? undefined : small.get(start);
  return hashesPerSecond(small.dag, simnet, { start: block, windowSize, isUnsafeRpc });
}

import { expect, test } from 'vitest';
import { smallSimulatedDag } from '../testing/small-simulated-dag.ts';
import type { Block } from './block.ts';
import { findChainAncestorAt, isDagAncestorOf } from './reachability.ts';

const { node, bodies } = smallSimulatedDag('reachability', 250);
const blocks = [node.consensus.genesis, ...bodies.map(({ hash }) => node.consensus.get(hash))];

test('a block is in the past of another exactly if its parents lead to it', () => {
  const pasts = new Map<Block, Set<Block>>();
  for (const block of blocks) {
    const past = new Set([block, ...block.parents.flatMap((parent) => [...(pasts.get(parent) ?? [])])]);
    pasts.set(block, past);
    for (const other of blocks) {
      if (isDagAncestorOf(other, block) !== past.has(other))
        throw new Error(`wrong for ${other.index} and ${block.index}`);
    }
  }
});

test('a chain ancestor is found at every height', () => {
  for (const block of blocks) {
    let expected: Block | undefined = block;
    for (let height = block.height; height >= 0; height -= 1) {
      expect(findChainAncestorAt(block, height)).toBe(expected);
      expected = expected?.ghostdag?.selectedParent;
    }
    expect(findChainAncestorAt(block, block.height + 1)).toBeUndefined();
  }
});

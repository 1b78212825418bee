import { describe, expect, test } from 'vitest';
import { namesOf, SmallDag } from '../testing/small-dag.ts';
import { blocksFrom } from './get-blocks.ts';

const LIMIT = 248;

describe('getBlocks', () => {
  test('lists the low block, the mergesets above it, the sink, and then blocks that only the virtual block merges', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 2);
    small.add('x', { parents: ['genesis'] });
    small.add('a3', { parents: ['a2', 'x'] });
    small.add('tail', { parents: ['a2'] });
    small.setVirtual(['a3', 'tail']);
    expect(namesOf(blocksFrom(small.dag, small.get('genesis'), LIMIT))).toEqual([
      'genesis',
      'a1',
      'a2',
      'x',
      'a3',
      'tail',
    ]);
  });

  test('omits a low block that is not on the chain, and its past', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 5);
    small.addChain('b', 'genesis', 3);
    small.add('m', { parents: ['a5', 'b3'] });
    small.setVirtual(['m']);
    expect(namesOf(blocksFrom(small.dag, small.get('b2'), LIMIT))).toEqual([
      'b2',
      'a1',
      'a2',
      'a3',
      'a4',
      'a5',
      'b3',
      'm',
    ]);
  });

  test('lists an unmerged low block only once', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 2);
    small.add('tail', { parents: ['a1'] });
    small.setVirtual(['a2', 'tail']);
    expect(namesOf(blocksFrom(small.dag, small.get('tail'), LIMIT))).toEqual(['tail', 'a2']);
  });

  test('stops before a mergeset that does not fit, and then omits unmerged blocks', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 3);
    small.add('tail', { parents: ['a1'] });
    small.setVirtual(['a3', 'tail']);
    expect(namesOf(blocksFrom(small.dag, small.get('genesis'), 0))).toEqual(['genesis', 'a1', 'a2']);
  });

  test('counts a whole mergeset towards the limit, including omitted blocks', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 4);
    small.addChain('b', 'genesis', 3);
    small.add('m', { parents: ['a4', 'b3'] });
    small.setVirtual(['m']);
    // Without genesis, which is below low, three blocks stand before m's mergeset of four, of which
    // only a4 is wanted.
    const names = namesOf(blocksFrom(small.dag, small.get('b3'), 5));
    expect(names).toEqual(['b3', 'a1', 'a2', 'a3', 'a4']);
    expect(namesOf(blocksFrom(small.dag, small.get('b3'), 6))).toEqual([...names, 'm']);
  });

  test('returns the sink and unmerged blocks from the sink', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 2);
    small.add('tail', { parents: ['a1'] });
    small.setVirtual(['a2', 'tail']);
    expect(namesOf(blocksFrom(small.dag, small.get('a2'), LIMIT))).toEqual(['a2', 'tail']);
  });
});

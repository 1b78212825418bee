import { expect, test } from 'vitest';
import { hashOf, namesOf, SmallDag } from './testing/small-dag.ts';

test('it sorts a mergeset in the order of acceptance: selected parent, then ascending blue work', () => {
  const small = new SmallDag();
  small.addChain('a', 'genesis', 3);
  small.addChain('b', 'genesis', 2);
  const merging = small.add('m', { parents: ['b2', 'a3'], reds: ['b1'] });
  expect(namesOf(merging.mergeSet)).toEqual(['a3', 'b1', 'b2']);
  expect(namesOf(merging.mergeSetBlues)).toEqual(['a3', 'b2']);
  expect(namesOf(merging.mergeSetReds)).toEqual(['b1']);
});

test('it moves the chain to a heavier branch, and back', () => {
  const small = new SmallDag();
  small.addChain('a', 'genesis', 2);
  small.addChain('b', 'genesis', 3);
  expect(namesOf(small.setVirtual(['a2']).added)).toEqual(['a1', 'a2']);

  const change = small.setVirtual(['a2', 'b3']);
  expect(namesOf(change.removed)).toEqual(['a2', 'a1']);
  expect(namesOf(change.added)).toEqual(['b1', 'b2', 'b3']);
  expect(namesOf(small.dag.chainBlocks)).toEqual(['genesis', 'b1', 'b2', 'b3']);
  expect(small.get('a1').chainIndex).toBeUndefined();
  expect(small.get('a1').mergingBlock).toBeUndefined();
  expect(small.get('b2').mergingBlock).toBe(small.get('b3'));

  small.add('a3', { parents: ['a2', 'b3'] });
  small.setVirtual(['a3']);
  expect(small.get('a2').mergingBlock).toBe(small.get('a3'));
  expect(namesOf(small.setVirtual(['b3']).removed)).toEqual(['a3']);
  expect(small.get('a2').mergingBlock).toBeUndefined();
});

test('it finds the accepting block on the current chain', () => {
  const small = new SmallDag();
  small.add('a', { parents: ['genesis'] });
  small.add('b', { parents: ['genesis'] });
  const coinbaseOfGenesis = Buffer.from('coinbase of genesis').toString('hex').padEnd(64, '0');
  small.setVirtual(['a']);
  expect(small.dag.findAcceptingBlock(coinbaseOfGenesis)).toBe(small.get('a'));
  small.setVirtual(['b']);
  expect(small.dag.findAcceptingBlock(coinbaseOfGenesis)).toBe(small.get('b'));
});

test('it adds a block once, and only with known parents', () => {
  const small = new SmallDag();
  const first = small.add('a', { parents: ['genesis'] });
  expect(small.add('a', { parents: ['genesis'] })).toBe(first);
  expect(small.get('genesis').children).toEqual([first]);
  expect(namesOf(small.dag.tips())).toEqual(['a']);
  expect(() => small.add('c', { parents: ['never'] })).toThrow(`block ${hashOf('never')} is not in the DAG`);
});

import { expect, test } from 'vitest';
import { SmallDag, hashOf, transactionOf } from '../testing/small-dag.ts';
import { isBlue, rewardInfo } from './merging.ts';

const script = { version: 0, script: Buffer.of(1) };
const output = (amount: bigint) => ({ amount, scriptPublicKey: script, covenant: undefined });

test('the merging chain block determines colour and reward of a block', () => {
  const small = new SmallDag();
  small.addChain('a', 'genesis', 2);
  small.add('red', { parents: ['genesis'] });
  small.add('m', {
    parents: ['a2', 'red'],
    reds: ['red'],
    transactions: [transactionOf('pays a2 and the miner of m for red', [output(50n), output(7n)])],
  });
  small.add('next', { parents: ['m'], transactions: [transactionOf('pays m', [output(51n)])] });
  small.setVirtual(['next']);

  expect(isBlue(small.dag, hashOf('a2'))).toBe(true);
  expect(isBlue(small.dag, hashOf('red'))).toBe(false);
  expect(rewardInfo(small.dag, small.get('a2'))).toMatchObject({ color: 'blue', rewardAmount: 50n });
  expect(rewardInfo(small.dag, small.get('red'))).toEqual({
    color: 'red',
    merged: { mergingBlock: small.get('m'), confirmationCount: 1n },
  });
  // A chain block that merged reds is paid for them by its own coinbase.
  expect(rewardInfo(small.dag, small.get('m'))).toMatchObject({ color: 'blue', rewardAmount: 58n });
});

test('an unmerged block has no colour, and the first coinbase pays nobody', () => {
  const small = new SmallDag();
  small.addChain('a', 'genesis', 1);
  small.setVirtual(['a1']);
  expect(() => isBlue(small.dag, hashOf('a1'))).toThrow(`Block ${hashOf('a1')} doesn't have any merger block.`);
  expect(() => isBlue(small.dag, hashOf('never'))).toThrow("doesn't have any merger block.");
  expect(rewardInfo(small.dag, small.get('a1'))).toEqual({ color: 'unknown' });
  expect(() => rewardInfo(small.dag, small.get('genesis'))).toThrow(
    `missing reward output 0 in merging chain block ${hashOf('a1')}`,
  );
});

import { describe, expect, test } from 'vitest';
import { namesOf, SmallDag } from '../testing/small-dag.ts';
import { virtualChainFrom } from './chain.ts';

/** A response holds ten times this many blocks. */
const LIMIT = 1;

describe('getVirtualChainFromBlock', () => {
  test('returns the removed blocks down to the fork and the added ones up to the sink', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 3);
    small.addChain('b', 'a1', 1);
    small.setVirtual(['a3']);
    expect(respond(small, 'b1', {})).toEqual({ removed: ['b1'], added: ['a2', 'a3'] });
    expect(respond(small, 'a3', {})).toEqual({ removed: [], added: [] });
  });

  test('limits the added chain blocks, and never truncates the removed ones', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 15);
    small.addChain('b', 'genesis', 12);
    small.setVirtual(['a15']);
    const { removed, added } = respond(small, 'b12', {});
    expect([removed.length, added.length, added.at(-1)]).toEqual([12, 10, 'a10']);
  });

  test('limits merged blocks, in whole mergesets, if accepted transactions are included', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 7);
    small.addChain('x', 'genesis', 4);
    small.add('a8', { parents: ['a7', 'x4'] });
    small.setVirtual(['a8']);
    expect(respond(small, 'genesis', { withAccepted: true }).added).toHaveLength(7);
    expect(respond(small, 'genesis', { withAccepted: false }).added).toHaveLength(8);
  });

  test('omits added chain blocks with too few confirmations, but no removed ones', () => {
    const small = new SmallDag();
    small.addChain('a', 'genesis', 5);
    small.addChain('b', 'genesis', 1);
    small.setVirtual(['a5']);
    expect(respond(small, 'b1', { minConfirmationCount: 2n })).toEqual({ removed: ['b1'], added: ['a1', 'a2'] });
    expect(respond(small, 'b1', { minConfirmationCount: 99n })).toEqual({ removed: ['b1'], added: [] });
  });
});

function respond(
  small: SmallDag,
  start: string,
  { minConfirmationCount = 0n, withAccepted = false }: { minConfirmationCount?: bigint; withAccepted?: boolean },
) {
  const { removed, added } = virtualChainFrom(small.dag, {
    start: small.get(start),
    minConfirmationCount,
    withAccepted,
    mergeSetSizeLimit: LIMIT,
  });
  return { removed: namesOf(removed), added: namesOf(added) };
}

import { expect, test } from 'vitest';
import { blocksOfPage } from './read-step.ts';

const blocks = ['a', 'b', 'c'].map((hash) => ({ hash }));
const changesOf = (counts: Record<string, number>) =>
  Object.entries(counts).flatMap(([hash, count]) =>
    Array.from({ length: count }, () => ({ acceptingBlockHash: hash })),
  );

const few = { addresses: ['x'], covenants: undefined, confirmations: [] };
const confirming = { ...few, confirmations: [10] };

test.each([
  ['all blocks, if they have few changes', few, { a: 600, b: 600, c: 600 }, 0, 3],
  ['those that have a page of changes together', few, { a: 600, b: 600, c: 601 }, 0, 2],
  ['at least one', few, { a: 50_000 }, 0, 1],
  ['none if the step already has a page of reverted changes', few, { a: 600 }, 1500, 0],
  ['half as many if as many are confirmed', confirming, { a: 600, b: 600 }, 0, 1],
  ['all for the reader of all addresses', { ...few, addresses: 'all' } as const, { a: 50_000 }, 0, 3],
  ['all for the reader of all covenants', { ...few, covenants: 'all' } as const, { a: 50_000 }, 0, 3],
  ['all without addresses', { ...few, addresses: undefined }, {}, 0, 3],
])('a step has %s', (_what, request, counts, before, expected) => {
  expect(blocksOfPage(blocks, changesOf(counts), request, before)).toBe(expected);
});

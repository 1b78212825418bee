import { expect, test } from 'vitest';
import { firstDifference } from './first-difference.ts';

const answer = {
  blocks: [
    { hash: 'ab', score: '7' },
    { hash: 'cd', score: '8', parents: ['ab'] },
  ],
  hashes: [],
};

test('equal answers do not differ, whatever the order of their fields', () => {
  const { hashes, blocks } = structuredClone(answer);
  expect(firstDifference(answer, { hashes, blocks })).toBeUndefined();
});

test.each([
  ['a value', { ...answer, hashes: ['ef'] }, 'hashes.0: node nothing, API "ef"'],
  ['an order', { ...answer, blocks: answer.blocks.toReversed() }, 'blocks.0.hash: node "ab", API "cd"'],
  ['a field too few', { blocks: answer.blocks }, 'hashes: node [], API nothing'],
  ['a field too many', { ...answer, more: null }, 'more: node nothing, API null'],
  ['a number for a text', { ...answer, blocks: [{ hash: 'ab', score: 7 }] }, 'blocks.0.score: node "7", API 7'],
  ['a list for an object', { ...answer, blocks: {} }, /^blocks: node \[.*\], API \{\}$/],
])('finds %s', (_what, other, words) => {
  expect(firstDifference(answer, other)).toMatch(words);
});

import { expect, test } from 'vitest';
import { firstDifference } from './comparison.ts';

const response = {
  blocks: [
    { hash: 'ab', score: '7' },
    { hash: 'cd', score: '8', parents: ['ab'] },
  ],
  hashes: [],
};

test('firstDifference finds none between equal responses with fields in another order', () => {
  const { hashes, blocks } = structuredClone(response);
  expect(firstDifference(response, { hashes, blocks })).toBeUndefined();
});

test.each([
  ['another value', { ...response, hashes: ['ef'] }, 'hashes.0: node nothing, API "ef"'],
  ['another order', { ...response, blocks: response.blocks.toReversed() }, 'blocks.0.hash: node "ab", API "cd"'],
  ['a missing field', { blocks: response.blocks }, 'hashes: node [], API nothing'],
  ['an additional field', { ...response, more: null }, 'more: node nothing, API null'],
  [
    'a number instead of a string',
    { ...response, blocks: [{ hash: 'ab', score: 7 }] },
    'blocks.0.score: node "7", API 7',
  ],
  ['an object instead of a list', { ...response, blocks: {} }, /^blocks: node \[.*\], API \{\}$/],
])('firstDifference describes %s', (_name, other, description) => {
  expect(firstDifference(response, other)).toMatch(description);
});

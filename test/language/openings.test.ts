import { expect, test } from 'vitest';
import { findOpenings } from './openings.ts';

test('it finds comments that open with "Of" or "What", on one line and on several', () => {
  const text = `/** Of blocks. */
/**
 * What nodes say. More
 * of it.
 */
const a = 1; // What it is.
// Of those.`;
  expect(findOpenings(text)).toEqual([1, 3, 6, 7]);
});

test('it ignores other sentences, words and strings', () => {
  const text = `/** Often. Whatever. */
/**
 * Lines that wrap before
 * What and Of.
 */
// A comment that wraps before
// Of and What.
const url = 'https://What';
const what = 'What is it?';`;
  expect(findOpenings(text)).toEqual([]);
});

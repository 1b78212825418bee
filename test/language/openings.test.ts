import { expect, test } from 'vitest';
import { findOpenings, findSqlOpenings } from './openings.ts';

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

test('it finds them in SQL, in comments of the program and of the schema', () => {
  const text = `-- Of each block.
comment on table a is 'What a block has.';
  -- What it has.
--
-- What it has, in a second paragraph.
select 1;`;
  expect(findSqlOpenings(text)).toEqual([1, 2, 3, 5]);
});

test('it ignores questions, other sentences and lines that wrap in SQL', () => {
  const text = `-- What is the supply, and how fast does it grow?
--
-- The sum
-- Of it, and
-- What it is.
comment on table a is 'The sum. Of it.';`;
  expect(findSqlOpenings(text)).toEqual([]);
});

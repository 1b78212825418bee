import { expect, test } from 'vitest';
import { findWideComments, findWideSqlComments } from './widths.ts';

const wide = 'word '.repeat(20);

test('it finds wide comments on one line and on several', () => {
  const text = `/** ${wide}*/
/**
 * ${wide}
 */
  // ${wide}
const a = 1; // short`;
  expect(findWideComments(text)).toEqual([1, 3, 5]);
});

test('it ignores code, examples, tables, instructions to tools and single words', () => {
  const text = `const text = '${wide}';
// oxlint-disable-next-line a-rule -- ${wide}
 * | ${wide}|
// https://example.com/${'word'.repeat(30)}
// ${'w'.repeat(97)}
 *   npm run ${wide}`;
  expect(findWideComments(text)).toEqual([]);
});

test('it finds wide comments in SQL', () => {
  const text = `-- ${wide}
comment on table a is '${wide}';
comment on table a is '${wide.slice(50)}'
  '${wide}';
create index a on b (${wide});`;
  expect(findWideSqlComments(text)).toEqual([1, 2, 4]);
});

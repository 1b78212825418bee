import type { IndexState } from '@kasgres/reads';
import { expect, it } from 'vitest';
import { hasEtag, StateResponses } from './respond.ts';

const TAG = 'W/"jZ3-abc_9"';

it.each([
  'W/"jZ3-abc_9"',
  '"jZ3-abc_9"',
  ' "x" , W/"jZ3-abc_9"',
  '*',
  'W/"jZ3-abc_9-gzip"',
  'W/"jZ3-abc_9--gzip"',
  '"jZ3-abc_9;gzip"',
  'W/"jZ3-abc_9-br"',
  '"other", "jZ3-abc_9-zstd"',
])('finds the tag in %s', (list) => {
  expect(hasEtag(list, TAG)).toBe(true);
});

it.each([
  undefined,
  '',
  '"jZ3-abc"',
  '"jZ3-abc_9-x"',
  '"jZ3-abc_9gzip"',
  '"-gzip"',
  '"jZ3-abc_9-gzip-br-x"',
  '"JZ3-abc_9"',
])('does not find the tag in %s', (list) => {
  expect(hasEtag(list, TAG)).toBe(false);
});

it('does not cut off a tag that ends like a suffix', () => {
  expect(hasEtag('"abc"', '"abc-br"')).toBe(false);
  expect(hasEtag('"abc-br"', '"abc-br"')).toBe(true);
  expect(hasEtag('"abc-br-gzip"', '"abc-br"')).toBe(true);
});

it('gives the responses of one sink other tags when a cut of RETENTION has moved the first block', () => {
  const state = { sinkHash: 'ab'.repeat(32), virtualMergeSet: [], bootstrapBlocks: 1, gaps: 0 };
  const responses = new StateResponses(() => ({}), false);
  const tagFrom = (firstBlock: string) =>
    responses.get({ ...state, firstBlock } as unknown as IndexState, '/').headers.etag;
  expect(tagFrom('cd'.repeat(32))).toBe(tagFrom('cd'.repeat(32)));
  expect(tagFrom('cd'.repeat(32))).not.toBe(tagFrom('ef'.repeat(32)));
});

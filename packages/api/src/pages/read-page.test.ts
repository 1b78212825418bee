/** Pages of any listing: a walk in either direction sees every item once, in order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pageQuery, queryFlag } from './page-query.ts';
import { type Listing, readPage } from './read-page.ts';
import { z } from 'zod';

/** Numbers from the highest down. */
const listingOf = (items: readonly number[]): Listing<number, number, number> => ({
  findPosition: async (cursor) => (items.includes(cursor) ? cursor : undefined),
  list: async ({ from, isBackward, limit }) => {
    const descending = items.toSorted((a, b) => b - a);
    const inOrder = isBackward ? descending.reverse() : descending;
    const behind = inOrder.filter((item) => from === undefined || (isBackward ? item > from : item < from));
    return behind.slice(0, limit);
  },
});

const sets = fc.uniqueArray(fc.integer(), { maxLength: 60 });

it('shows every item once and in order when paging forwards, then backwards', async () => {
  await fc.assert(
    fc.asyncProperty(sets, fc.integer({ min: 1, max: 100 }), async (items, limit) => {
      const listing = listingOf(items);
      const forward: number[] = [];
      let page = await readPage({ limit }, listing);
      for (;;) {
        forward.push(...page.rows);
        expect(page.metadata).toEqual({ count: page.rows.length, hasMore: forward.length < items.length });
        if (!page.metadata.hasMore) break;
        page = await readPage({ limit, starting_after: forward.at(-1) }, listing);
      }
      expect(forward).toEqual(items.toSorted((a, b) => b - a));

      const backward: number[] = page.rows;
      while (backward.length > 0 && backward.length < items.length) {
        page = await readPage({ limit, ending_before: backward[0] }, listing);
        backward.unshift(...page.rows);
        expect(page.metadata).toEqual({ count: page.rows.length, hasMore: backward.length < items.length });
      }
      expect(backward).toEqual(forward);
    }),
  );
});

it('responds with a 404 to an unknown cursor', async () => {
  await expect(readPage({ limit: 1, starting_after: 9 }, listingOf([1, 2]))).rejects.toMatchObject({
    statusCode: 404,
    message: 'starting_after is not an item of this listing',
  });
});

const query = pageQuery(z.string(), { some_flag: queryFlag });

it('has defaults for query parameters', () => {
  expect(query.parse({})).toEqual({ limit: 20, some_flag: false });
  expect(query.parse({ limit: '100', some_flag: 'true', starting_after: 'x' })).toEqual({
    limit: 100,
    some_flag: true,
    starting_after: 'x',
  });
});

it.each([
  { limit: '0' },
  { limit: '101' },
  { limit: '-1' },
  { limit: '1.5' },
  { limit: '1e1' },
  { limit: '' },
  { some_flag: '1' },
  { starting_after: 'a', ending_before: 'b' },
  { page: '2' },
])('refuses %j', (input) => {
  expect(query.safeParse(input).success).toBe(false);
});

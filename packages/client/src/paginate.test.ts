import { expect, expectTypeOf, it } from 'vitest';
import { type Item, type ListingPath, paginate } from './paginate.ts';

it('continues behind what a filter has dropped, also after a page without items', async () => {
  const pages = [
    { transactions: [{ transactionId: 'a' }], metadata: { hasMore: true, count: 1, scannedTo: 'b' } },
    { transactions: [], metadata: { hasMore: true, count: 0, scannedTo: 'c' } },
    { transactions: [{ transactionId: 'd' }], metadata: { hasMore: true, count: 1 } },
    { transactions: [], metadata: { hasMore: false, count: 0 } },
  ];
  const cursors: unknown[] = [];
  const items = paginate<'/v1/transactions'>(async (request) => {
    cursors.push((request as { params: { query: Record<string, unknown> } }).params.query['starting_after']);
    return pages[cursors.length - 1] as never;
  });
  const ids = (await Array.fromAsync(items)).map(({ transactionId }) => transactionId);
  expect(ids).toEqual(['a', 'd']);
  expect(cursors).toEqual([undefined, 'b', 'c', 'd']);
});

it('has the items of every listing', () => {
  type Empty = { [Path in ListingPath]: [Item<Path>] extends [never] ? Path : never }[ListingPath];
  expectTypeOf<Empty>().toBeNever();
});

const id = 'ab'.repeat(32);

it.each([
  ['covenants', { covenantId: id, firstSeen: 1, lastSeen: 2 }, `2:${id}`],
  ['events', { covenantId: 'cd'.repeat(32), transactionId: id }, id],
  ['inscriptions', { transactionId: id, source: 'payload' }, `${id}:payload`],
  ['inscriptions', { transactionId: id, source: { input: 3 } }, `${id}:3`],
  ['lanes', { namespace: '01020304', lastSeen: 5 }, '5:01020304'],
  ['templates', { template: id, spendCount: 7 }, `7:${id}`],
])('continues behind the last of the %s', async (name, item, cursor) => {
  const cursors: unknown[] = [];
  const items = paginate<'/v1/covenants'>(async (request) => {
    cursors.push(request.params?.query?.starting_after);
    return { [name]: [item], metadata: { hasMore: cursors.length === 1, count: 1 } } as never;
  });
  expect(await Array.fromAsync(items)).toEqual([item, item]);
  expect(cursors).toEqual([undefined, cursor]);
});

it('goes back from ending_before, from item to item', async () => {
  const pages = [
    { blocks: [{ hash: 'd' }, { hash: 'e' }], metadata: { hasMore: true, count: 2 } },
    { blocks: [{ hash: 'c' }], metadata: { hasMore: true, count: 1, scannedTo: 'b' } },
    { blocks: [{ hash: 'a' }], metadata: { hasMore: false, count: 1 } },
  ];
  const queries: unknown[] = [];
  const items = paginate<'/v1/blocks'>(
    async ({ params }) => {
      queries.push(params?.query);
      return pages[queries.length - 1] as never;
    },
    { params: { query: { limit: 2, ending_before: 'f' } } },
  );
  expect((await Array.fromAsync(items)).map(({ hash }) => hash)).toEqual(['e', 'd', 'c', 'a']);
  expect(queries).toEqual(['f', 'd', 'b'].map((cursor) => ({ limit: 2, ending_before: cursor })));
});

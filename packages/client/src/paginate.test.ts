import { expect, it } from 'vitest';
import { paginate } from './paginate.ts';

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

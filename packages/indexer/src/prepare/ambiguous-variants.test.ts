import { sleep } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { AmbiguousVariants, type AmbiguousVariant } from './ambiguous-variants.ts';

const MAX_WAIT_MS = 100;

const variantIn = (chainBlock: string, transaction: number): AmbiguousVariant => ({
  transaction,
  transactionId: `id ${transaction}`,
  chainBlock,
  chainBlockBlueScore: 7n,
  parent: 'parent',
  variants: new Map([
    ['first', 0],
    ['second', 1],
  ]),
});

/** The node accepted the variant of the second block. */
const sourcesOf = (...transactions: number[]): ReadonlyMap<string, string> =>
  new Map(transactions.map((transaction) => [`id ${transaction}`, 'second']));

const hash = (byte: string): string => byte.repeat(32);

test('it requests all transactions of a chain block at once', async () => {
  const asked: string[] = [];
  const variants = new AmbiguousVariants(async ({ chainBlock }) => {
    asked.push(chainBlock);
    return sourcesOf(1, 2, 3);
  });
  variants.add(variantIn('a', 1));
  variants.add(variantIn('b', 3));
  variants.add(variantIn('a', 2));
  expect(await variants.settle(true)).toEqual(
    new Map([
      [1, 1],
      [2, 1],
      [3, 1],
    ]),
  );
  expect(asked).toEqual(['a', 'b']);
  expect(await variants.settle(true)).toEqual(new Map());
  expect(asked).toEqual(['a', 'b']);
});

test('it retries only after the chain has moved, less and less often, and finally gives up', async () => {
  const askedAt: number[] = [];
  let move = 0;
  const variants = new AmbiguousVariants(async () => {
    askedAt.push(move);
    return undefined;
  });
  variants.add(variantIn('a', 1));
  for (move = 1; move <= 1_000; move += 1) {
    await variants.settle(true);
    await variants.settle(false);
  }
  expect(askedAt).toEqual([1, 2, 3, 4, 6, 10, 18, 34, 66, 130]);
});

test('it does not wait for a slow node more than once', async () => {
  const requests: PromiseWithResolvers<void>[] = [];
  const variants = new AmbiguousVariants(
    async () => {
      const request = Promise.withResolvers<void>();
      requests.push(request);
      await request.promise;
      return sourcesOf(1, 2);
    },
    { maxWaitMs: MAX_WAIT_MS },
  );
  variants.add(variantIn('a', 1));
  variants.add(variantIn('b', 2));
  expect(await variants.settle(true)).toEqual(new Map());
  const startedAt = performance.now();
  for (let batch = 0; batch < 20; batch += 1) expect(await variants.settle(true)).toEqual(new Map());
  expect(performance.now() - startedAt).toBeLessThan(20 * MAX_WAIT_MS);
  expect(requests.length).toBe(1);

  requests[0]?.resolve();
  await sleep(1);
  // The next request is not waited for either, since the one before was slow.
  expect(await variants.settle(true)).toEqual(new Map([[1, 1]]));
  expect(requests.length).toBe(2);
  requests[1]?.resolve();
  await sleep(1);
  expect(await variants.settle(true)).toEqual(new Map([[2, 1]]));
});

test('it keeps the latest chain blocks within its bound of merged blocks, without settled or reverted ones', async () => {
  const asked: string[] = [];
  const variants = new AmbiguousVariants(
    async ({ chainBlock }) => {
      asked.push(chainBlock);
      return sourcesOf(1, 2, 3, 4, 5);
    },
    { maxCarriers: 6 },
  );
  variants.add(variantIn(hash('0a'), 1));
  variants.add(variantIn(hash('0b'), 2));
  variants.drop([new Uint8Array(32).fill(0x0b)]);
  variants.add(variantIn(hash('0c'), 3));
  variants.add(variantIn(hash('0d'), 4));
  variants.add(variantIn(hash('0d'), 5));
  expect([...(await variants.settle(true)).keys()]).toEqual([3, 4, 5]);
  expect(asked).toEqual([hash('0c'), hash('0d')]);
  // Everything is settled, so there is room again.
  for (const [transaction, chainBlock] of ['0e', '0f', '10'].entries())
    variants.add(variantIn(hash(chainBlock), transaction));
  await variants.settle(true);
  expect(asked.slice(2)).toEqual([hash('0e'), hash('0f'), hash('10')]);
});

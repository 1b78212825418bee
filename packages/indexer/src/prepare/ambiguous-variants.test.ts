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
  expect(await variants.settle(true, true)).toEqual(
    new Map([
      [1, 1],
      [2, 1],
      [3, 1],
    ]),
  );
  expect(asked).toEqual(['b', 'a']);
  expect(await variants.settle(true, true)).toEqual(new Map());
  expect(asked).toEqual(['b', 'a']);
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
    await variants.settle(true, true);
    await variants.settle(false, true);
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
    { maxWaitMs: { catchUp: MAX_WAIT_MS, tip: MAX_WAIT_MS } },
  );
  variants.add(variantIn('a', 1));
  variants.add(variantIn('b', 2));
  expect(await variants.settle(true, true)).toEqual(new Map());
  const startedAt = performance.now();
  for (let batch = 0; batch < 20; batch += 1) expect(await variants.settle(true, true)).toEqual(new Map());
  expect(performance.now() - startedAt).toBeLessThan(20 * MAX_WAIT_MS);
  expect(requests.length).toBe(1);

  requests[0]?.resolve();
  await sleep(1);
  // The next request is not waited for either, since the one before was slow.
  expect(await variants.settle(true, true)).toEqual(new Map([[2, 1]]));
  expect(requests.length).toBe(2);
  requests[1]?.resolve();
  await sleep(1);
  expect(await variants.settle(true, true)).toEqual(new Map([[1, 1]]));
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
  expect([...(await variants.settle(true, true)).keys()]).toEqual([4, 5, 3]);
  expect(asked).toEqual([hash('0d'), hash('0c')]);
  // Everything is settled, so there is room again.
  for (const [transaction, chainBlock] of ['0e', '0f', '10'].entries())
    variants.add(variantIn(hash(chainBlock), transaction));
  await variants.settle(true, true);
  expect(asked.slice(2)).toEqual([hash('10'), hash('0f'), hash('0e')]);
});

test('it keeps the latest chain blocks within its bound of chain blocks', async () => {
  const asked: string[] = [];
  const variants = new AmbiguousVariants(
    async ({ chainBlock }) => {
      asked.push(chainBlock);
      return undefined;
    },
    { maxChainBlocks: 3 },
  );
  for (let n = 0; n < 1_000; n += 1) variants.add(variantIn(`chain block ${n}`, n));
  await variants.settle(true, true);
  expect(asked).toEqual(['chain block 999', 'chain block 998', 'chain block 997']);
});

test('it asks at most ten times for each chain block, however many a miner makes untellable', async () => {
  let requests = 0;
  const variants = new AmbiguousVariants(async () => {
    requests += 1;
    return undefined;
  });
  const requestsOfBatches: number[] = [];
  for (let chainBlock = 0; chainBlock < 300; chainBlock += 1) {
    const before = requests;
    variants.add(variantIn(`chain block ${chainBlock}`, chainBlock));
    await variants.settle(true, true);
    requestsOfBatches.push(requests - before);
  }
  expect(Math.max(...requestsOfBatches)).toBe(10);
  expect(requests).toBeLessThanOrEqual(10 * 300);
});

test('a batch at the tip waits less than one of a catch-up', async () => {
  const variants = new AmbiguousVariants(() => sleep(60_000).then(() => undefined), {
    maxWaitMs: { catchUp: 60_000, tip: MAX_WAIT_MS },
  });
  variants.add(variantIn('a', 1));
  const startedAt = performance.now();
  expect(await variants.settle(true, true)).toEqual(new Map());
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

test('a batch begins no more requests after half of its wait, and later ones make up for it', async () => {
  let requests = 0;
  const variants = new AmbiguousVariants(
    async ({ chainBlock }) => {
      requests += 1;
      await sleep(MAX_WAIT_MS / 20);
      return sourcesOf(Number(chainBlock));
    },
    { maxWaitMs: { catchUp: MAX_WAIT_MS, tip: MAX_WAIT_MS } },
  );
  for (let n = 0; n < 12; n += 1) variants.add(variantIn(String(n), n));
  await variants.settle(true, true);
  expect(requests).toBeLessThanOrEqual(11);
  for (let batch = 0; batch < 50; batch += 1) await variants.settle(false, true);
  expect(requests).toBe(12);
});

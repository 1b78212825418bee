import { create, toBinary } from '@bufbuild/protobuf';
import type { Hash } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, protocol } from '@kasgres/node';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fetchPages, mapAhead, PageBuffers } from './pages.ts';

const LARGEST = 10_000;
const SMALL = 200;
const { signal } = new AbortController();
const hashOf = (n: number): string => n.toString(16).padStart(64, '0');
const bytesOf = (n: number): Hash => Buffer.from(hashOf(n), 'hex');
const chain = async function* (pages: number): AsyncGenerator<Hash[]> {
  for (let page = 1; page <= pages; page += 1) yield [bytesOf(page)];
};

/** The n-th page leads from block n to block n + 1, and has so many bytes. */
function nodeWithPages(sizes: readonly number[]) {
  const seen = { asked: 0, most: 0, arrived: 0 };
  const node = {
    getBlocks: async ({ lowHash }: { lowHash: Hash }) => {
      const low = Number(`0x${Buffer.from(lowHash).toString('hex')}`);
      return { blockHashes: [bytesOf(low), bytesOf(low + 1)], blocks: [], wireBytes: 0 };
    },
    callRaw: async (_: string, { lowHash }: { lowHash: string }, use: (body: Uint8Array) => unknown) => {
      seen.asked += 1;
      seen.most = Math.max(seen.most, seen.asked - seen.arrived);
      await setImmediate();
      seen.arrived += 1;
      const low = Number(`0x${lowHash}`);
      const message = create(protocol.GetBlocksResponseSchema, { blockHashes: [hashOf(low), hashOf(low + 1)] });
      const body = toBinary(protocol.GetBlocksResponseSchema, message);
      // An unknown field fills the size; its tag and length have five bytes.
      const rest = (sizes[low] as number) - body.length - 5;
      return use(Buffer.concat([body, Buffer.of(0xfa, 0x7e, ...lengthOf(rest)), new Uint8Array(rest)]));
    },
  };
  return { node: node as unknown as NodeClient, seen };
}

/** A number in three bytes. */
function lengthOf(n: number): number[] {
  return [(n & 0x7f) | 0x80, ((n >> 7) & 0x7f) | 0x80, n >> 14];
}

/** Takes one page, and then none for long. */
async function stall(sizes: readonly number[], limits: { pageStreams: number; maxBytesAhead: number }) {
  const { node, seen } = nodeWithPages(sizes);
  const pages = fetchPages(node, bytesOf(0), chain(sizes.length), limits, signal, { maxPageBytes: LARGEST });
  await pages.next();
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  const ahead = sizes.slice(1, seen.asked);
  await pages.return(undefined);
  return { ahead: ahead.length, bytes: ahead.reduce((sum, size) => sum + size, 0), underWay: seen.most };
}

const equal = (size: number): number[] => Array.from({ length: 50 }, () => size);

test.each([
  ['the largest', LARGEST, 20_000],
  ['the largest, and little room', LARGEST, 1],
  ['middling', 4_000, 20_000],
  ['small', SMALL, 20_000],
])('a consumer that stalls lets no more come in than the bound and a page: %s', async (_, size, maxBytesAhead) => {
  for (const pageStreams of [1, 3, 20]) {
    const { ahead, bytes, underWay } = await stall(equal(size), { pageStreams, maxBytesAhead });
    expect(ahead).toBeLessThanOrEqual(pageStreams);
    expect(bytes).toBeLessThanOrEqual(maxBytesAhead + LARGEST);
    expect(underWay * LARGEST).toBeLessThanOrEqual(maxBytesAhead + LARGEST);
  }
});

test('it stays within the bound if pages suddenly grow a hundredfold', async () => {
  const { node, seen } = nodeWithPages([...equal(SMALL), ...equal(LARGEST)]);
  const limits = { pageStreams: 8, maxBytesAhead: 35_000 };
  let taken = 0;
  for await (const page of fetchPages(node, bytesOf(0), chain(100), limits, signal, { maxPageBytes: LARGEST })) {
    expect(page.wireBytes).toBe(taken < 50 ? SMALL : LARGEST);
    taken += 1;
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    const ahead = Array.from({ length: seen.asked - taken }, (_, i) => (taken + i < 50 ? SMALL : LARGEST));
    expect(ahead.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limits.maxBytesAhead + LARGEST);
  }
  expect(taken).toBe(100);
  expect(seen.most).toBe(4);
});

test('it fetches three pages at once by default', async () => {
  const { node, seen } = nodeWithPages(equal(SMALL));
  const limits = { pageStreams: 3, maxBytesAhead: 384 * 1024 * 1024 };
  for await (const page of fetchPages(node, bytesOf(0), chain(50), limits, signal)) expect(page.wireBytes).toBe(SMALL);
  expect(seen.most).toBe(3);
});

test('it throws an error that the node returns instead of a page', async () => {
  const { node } = nodeWithPages(equal(SMALL));
  const refusal = toBinary(protocol.GetBlocksResponseSchema, {
    ...create(protocol.GetBlocksResponseSchema),
    error: create(protocol.RpcErrorSchema, { message: 'cannot find header' }),
  });
  node.callRaw = async (_op, _request, use) => use(refusal);
  const limits = { pageStreams: 1, maxBytesAhead: 1 };
  await expect(fetchPages(node, bytesOf(0), chain(1), limits, signal).next()).rejects.toBeInstanceOf(NodeRpcError);
});

test('it yields the faults that the check of a page finds, and none if the check fails', async () => {
  const { node } = nodeWithPages(equal(SMALL));
  const limits = { pageStreams: 2, maxBytesAhead: 1e6 };
  const pages: Uint8Array[] = [];
  const check = (page: Uint8Array) => {
    pages.push(page);
    if (pages.length === 1) return undefined;
    return pages.length < 4 ? Promise.resolve([`fault ${pages.length}`]) : Promise.reject(new Error('no thread'));
  };
  const fetched = fetchPages(node, bytesOf(0), chain(10), limits, signal, { check });
  const found: unknown[] = [];
  for await (const { faults } of fetched) found.push(faults);
  expect(found.slice(0, 4)).toEqual([undefined, ['fault 2'], ['fault 3'], undefined]);
  expect(found).toHaveLength(10);
  expect(pages[0]?.buffer).toBeInstanceOf(SharedArrayBuffer);
});

async function* count(to: number): AsyncGenerator<number> {
  for (let n = 0; n < to; n += 1) yield n;
}

async function failAtTwo(n: number): Promise<number> {
  if (n === 2) throw new Error('two');
  return n;
}

test('it maps items in order, at most as many at once as the width', async () => {
  let inTransit = 0;
  let most = 0;
  const results: number[] = [];
  const slow = async (n: number): Promise<number> => {
    inTransit += 1;
    most = Math.max(most, inTransit);
    await new Promise((resolve) => setTimeout(resolve, n % 3));
    inTransit -= 1;
    return n * 2;
  };
  for await (const result of mapAhead(count(30), slow, () => 4)) results.push(result);
  expect(results).toEqual(Array.from({ length: 30 }, (_, n) => n * 2));
  expect(most).toBe(4);
});

test('it does not map further items before results are taken', async () => {
  let started = 0;
  const ahead = mapAhead(
    count(100),
    async (n) => {
      started += 1;
      return n;
    },
    () => 3,
  );
  await ahead.next();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(started).toBeLessThanOrEqual(3);
  await ahead.return(undefined);
});

test('it throws a failure after the results before it', async () => {
  const taken: number[] = [];
  const run = async (): Promise<void> => {
    for await (const n of mapAhead(count(9), failAtTwo, () => 5)) taken.push(n);
  };
  await expect(run()).rejects.toThrow('two');
  expect(taken).toEqual([0, 1]);
});

const MEBIBYTE = 1024 * 1024;
const pageOf = (bytes: number, fill: number): Uint8Array => new Uint8Array(bytes).fill(fill);

test('it keeps a copy until it is given back, and then reuses its buffer', () => {
  const buffers = new PageBuffers(2);
  const original = pageOf(1_000, 1);
  const first = buffers.copy(original);
  original.fill(9);
  const second = buffers.copy(pageOf(5 * MEBIBYTE, 2));
  expect(first).toEqual(Buffer.from(pageOf(1_000, 1)));
  expect(second.every((byte) => byte === 2)).toBe(true);
  buffers.giveBack(first);
  buffers.giveBack(second);
  const third = buffers.copy(pageOf(4 * MEBIBYTE + 1, 3));
  expect(third.buffer).toBe(second.buffer);
  expect(third.length).toBe(4 * MEBIBYTE + 1);
});

test('it keeps at most the configured number of buffers, and none that is too large', () => {
  const buffers = new PageBuffers(1);
  const [small, middle, large] = [
    buffers.copy(pageOf(1, 1)),
    buffers.copy(pageOf(20 * MEBIBYTE, 1)),
    buffers.copy(pageOf(33 * MEBIBYTE, 1)),
  ];
  expect([small, middle, large].map((copy) => copy.buffer instanceof SharedArrayBuffer)).toEqual([true, true, false]);
  for (const copy of [small, middle, large]) buffers.giveBack(copy);
  expect(buffers.copy(pageOf(1, 2)).buffer).toBe(middle.buffer);
  const others = [small.buffer, middle.buffer, large.buffer];
  expect(others).not.toContain(buffers.copy(pageOf(1, 2)).buffer);
});

/** Pages of a real node, checked on a thread. */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';
import { decodeBlocks, decodeBlocksResponse } from '@kasgres/node/decode-responses';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import { afterAll, describe, expect, test } from 'vitest';
import { recordedResponses } from '../../../node/src/testing/recorded-calls.ts';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from './check-block.ts';
import { BlockSet, mergeSetOf } from './block-set.ts';
import type { CheckJob, Faults } from './check-page.worker.ts';

/** Thousands of times the work of a simnet block. */
const HARD_BITS = 0x1d00ffff;

const pool = new WorkerPool<CheckJob, Faults>(new URL('./check-page.worker.ts', import.meta.url), 1);
afterAll(() => pool.close());

/** The largest recorded page with transactions, in shared memory. */
function recordedPage(): Buffer {
  const pages = recordedResponses('getBlocks').map(({ body }) => body);
  const whole = pages.filter((body) => decodeBlocks(body).some(({ transactions }) => transactions.length > 1));
  const largest = whole.toSorted((a, b) => b.length - a.length)[0] as Uint8Array;
  const page = Buffer.from(new SharedArrayBuffer(largest.length));
  page.set(largest);
  return page;
}

/** Ids that every chain block accepts: those of its selected parent. */
function acceptedIds({ selectedParentHash }: RpcBlock, blocks: readonly RpcBlock[]): Hash[] {
  const parent = blocks.find(({ hash }) => Buffer.compare(hash, selectedParentHash) === 0);
  return parent?.transactions.map(({ transactionId }) => transactionId) ?? [];
}

const isIn = (hash: Hash, blocks: readonly RpcBlock[]): boolean =>
  blocks.some((block) => Buffer.compare(block.hash, hash) === 0);

const check = (page: Uint8Array): Promise<Faults> => pool.run({ page, crescendo: undefined });

test('blocks of a real node have no fault', async () => {
  const page = recordedPage();
  const { blocks } = decodeBlocksResponse(page);
  expect(blocks.length).toBeGreaterThan(5);
  expect(await check(page)).toEqual(blocks.map(() => undefined));
});

test('a fault is found in the block that has it, which is then refused', async () => {
  const page = recordedPage();
  const { blocks } = decodeBlocksResponse(page);
  // Its mergeset is in the page, so that nothing else keeps it from being taken.
  const names = new Set(blocks.map(({ hash }) => toHex(hash)));
  const index = blocks.findIndex((block) => {
    const mergeSet = mergeSetOf(block);
    return mergeSet.length > 0 && mergeSet.every((hash) => names.has(toHex(hash)));
  });
  const block = blocks[index] as RpcBlock;
  const { hash, header } = block;
  const at = page.indexOf(toHex(header.utxoCommitment));
  page[at] = page[at] === 0x30 ? 0x31 : 0x30;

  const faults = await check(page);
  expect(faults.map((fault) => fault !== undefined)).toEqual(blocks.map((_, each) => each === index));
  expect(faults[index]).toBe('has a header that does not hash to its name');

  const set = new BlockSet(undefined);
  set.add(decodeBlocksResponse(page).blocks, faults);
  expect(() => set.take(hash, [])).toThrow(IncompleteUpdateError);
  // Blocks that were found to be right are not checked again.
  const trusted = new BlockSet(undefined);
  trusted.add(
    decodeBlocksResponse(page).blocks,
    blocks.map(() => undefined),
  );
  expect(trusted.take(hash, acceptedIds(block, blocks)).block.hash).toEqual(hash);
});

test('a page that cannot be decoded rejects, and the next one is checked', async () => {
  const page = recordedPage();
  await expect(check(page.subarray(0, page.length / 2))).rejects.toThrow('malformed');
  expect(await check(page)).toContain(undefined);
});

test('a chain block that merges another number of blue blocks than its blue score tells is refused', () => {
  const { blocks } = decodeBlocksResponse(recordedPage());
  const names = new Set(blocks.map(({ hash }) => toHex(hash)));
  const block = blocks.find(
    (each) => each.mergeSetBluesHashes.length > 0 && mergeSetOf(each).every((hash) => names.has(toHex(hash))),
  ) as (typeof blocks)[number];
  const takeWith = (mergeSetBluesHashes: Uint8Array[]): unknown => {
    const set = new BlockSet(undefined);
    set.add(blocks.map((each) => (each === block ? { ...block, mergeSetBluesHashes } : each)));
    return set.take(block.hash, acceptedIds(block, blocks));
  };
  expect(() => takeWith(block.mergeSetBluesHashes)).not.toThrow();
  const merged = new Set(mergeSetOf(block).map(toHex));
  const other = blocks.find(({ hash }) => !merged.has(toHex(hash))) as (typeof blocks)[number];
  expect(() => takeWith([...block.mergeSetBluesHashes, other.hash])).toThrow(/another number of blue blocks/);
});

test('a block that merges a block twice is refused, also beside the chain', () => {
  const { blocks } = decodeBlocksResponse(recordedPage());
  const block = blocks.find(({ mergeSetBluesHashes }) => mergeSetBluesHashes.length > 0) as (typeof blocks)[number];
  const mergeSetRedsHashes = [...block.mergeSetRedsHashes, block.mergeSetBluesHashes[0] as Hash];
  expect(findFault(block)).toBeUndefined();
  expect(findFault({ ...block, mergeSetRedsHashes })).toBe('merges a block twice');
});

test('a chain block that does not accept all transactions of its selected parent first is refused', () => {
  const { blocks } = decodeBlocksResponse(recordedPage());
  const [block, accepted] = blocks
    .map((each) => [each, acceptedIds(each, blocks)] as const)
    .find(([each, ids]) => ids.length > 1 && mergeSetOf(each).every((hash) => isIn(hash, blocks))) as [
    RpcBlock,
    Hash[],
  ];
  const takeWith = (ids: Hash[]): unknown => {
    const set = new BlockSet(undefined);
    set.add(blocks);
    return set.take(block.hash, ids);
  };
  expect(() => takeWith(accepted)).not.toThrow();
  for (const ids of [[], accepted.slice(1), accepted.slice(0, -1), accepted.toReversed()]) {
    expect(() => takeWith(ids)).toThrow(/does not accept transaction/);
  }
});

describe('a chain block whose mergeset contradicts its header', () => {
  const { blocks } = decodeBlocksResponse(recordedPage());
  const names = new Map(blocks.map((block) => [toHex(block.hash), block]));
  const block = blocks.find(
    (each) => each.mergeSetBluesHashes.length > 0 && mergeSetOf(each).every((hash) => names.has(toHex(hash))),
  ) as RpcBlock;
  const takeWith = (change: Partial<RpcBlock>): unknown => {
    const set = new BlockSet(undefined);
    set.add(blocks.map((each) => (each === block ? { ...block, ...change } : each)));
    return set.take(block.hash, []);
  };

  test('is refused if it merges a block as blue and as red', () => {
    const mergeSetRedsHashes = [...block.mergeSetRedsHashes, block.mergeSetBluesHashes[0] as Hash];
    expect(() => takeWith({ mergeSetRedsHashes })).toThrow(/merges a block twice/);
  });

  test('is refused if its blues have other work than its blue work tells', () => {
    const lastBlue = block.mergeSetBluesHashes.at(-1) as Hash;
    const set = new BlockSet(undefined);
    const changed = blocks.map((each) =>
      Buffer.compare(each.hash, lastBlue) === 0 ? { ...each, header: { ...each.header, bits: HARD_BITS } } : each,
    );
    set.add(
      changed,
      changed.map(() => undefined),
    );
    expect(() => set.take(block.hash, [])).toThrow(/other blue blocks than its blue work tells/);
  });
});

test('a response may repeat blocks, also of other responses', () => {
  const { blocks } = decodeBlocksResponse(recordedPage());
  const [first] = blocks as [RpcBlock];
  const set = new BlockSet(undefined);
  set.add(blocks);
  set.add([...blocks, { ...first }]);
  expect(set.has(first.hash)).toBe(true);
});

/**
 * The listing of blocks, single blocks, and blocks by DAA score, against the simulated node and its
 * DAG.
 */
import { type DagBlock, sinkAnticone } from '@kasgres/devnet';
import { toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectedBlock } from '../support/compare/expected.ts';
import { walk } from '../support/listings.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
/** Every block that the virtual block has in its past, by hash. */
let known: Map<string, DagBlock>;

beforeAll(async () => {
  harness = await openHarness({ rounds: 400 });
  // Something beside the sink that is not merged yet has to be there.
  while (sinkAnticone(harness.simulatedDag.node.dag).length === 0) harness.simulatedDag.mine(1);
  await harness.atRest();
  const { dag } = harness.simulatedDag.node;
  const merged = dag.chainBlocks.flatMap((block) => block.mergeSet);
  known = new Map([...merged, dag.sink, ...sinkAnticone(dag)].map((block) => [block.hash, block]));
});
afterAll(() => harness.close());

interface RestBlock {
  hash: string;
  color: string | null;
  isChainBlock: boolean;
}

function expectedRestBlock(block: DagBlock) {
  const { mergingBlock } = block;
  const color = mergingBlock?.mergeSetReds.includes(block) === true ? 'red' : 'blue';
  return {
    hash: block.hash,
    blueScore: String(block.header.blueScore),
    daaScore: String(block.header.daaScore),
    timestamp: Number(block.header.timestamp),
    isChainBlock: block.chainIndex !== undefined,
    color: mergingBlock === undefined ? null : color,
    mergingBlockHash: mergingBlock?.hash ?? null,
    transactionCount: block.transactions.length,
  };
}

const listing = (query: Record<string, string> = {}) => ({
  template: '/v1/blocks',
  query,
  field: 'blocks',
  cursorOf: (block: RestBlock) => block.hash,
});

describe('the listing of blocks', () => {
  test('has every block of the DAG once, the last written first, with all fields', async () => {
    const blocks = await walk(harness.api, listing(), 97);
    expect(blocks.toSorted(byHash)).toEqual([...known.values()].map(expectedRestBlock).toSorted(byHash));
    const { rows } = await harness.database.pool.query<{ hash: string }>(
      `select encode(hash, 'hex') as hash from blocks order by id desc`,
    );
    expect(blocks.map((block) => block.hash)).toEqual(rows.map((row) => row.hash));
    // Every colour, and blocks beside the sink, were met.
    expect(new Set(blocks.map((block) => block.color))).toEqual(new Set(['blue', 'red', null]));
    expect(blocks.filter((block) => block.color === null).length).toBeGreaterThan(1);
  });

  test('restricted to the chain has the chain blocks in the same order', async () => {
    const all = await walk(harness.api, listing(), 100);
    const chain = await walk(harness.api, listing({ chain_only: 'true' }), 13);
    expect(chain).toEqual(all.filter((block) => block.isChainBlock));
    expect(chain.map((block) => block.hash).toSorted()).toEqual(
      harness.simulatedDag.node.dag.chainBlocks.map((block) => block.hash).toSorted(),
    );
  });

  test('continues after a block that its filter omits, in any form of its hash', async () => {
    const all = await walk(harness.api, listing(), 100);
    const place = all.findIndex((block, index) => index > 10 && !block.isChainBlock);
    const cursor = `0x${all[place]?.hash.toUpperCase()}`;
    const after = await harness.api.request(`/v1/blocks?chain_only=true&limit=1&starting_after=${cursor}`);
    expect(after.json['blocks']).toEqual([all.slice(place).find((block) => block.isChainBlock)]);
    const before = await harness.api.request(`/v1/blocks?chain_only=true&limit=1&ending_before=${cursor}`);
    expect(before.json['blocks']).toEqual([all.slice(0, place).findLast((block) => block.isChainBlock)]);
  });

  test.each([
    ['limit=0', 400],
    ['chain_only=1', 400],
    ['starting_after=ab', 400],
    [`starting_after=${'ab'.repeat(32)}&ending_before=${'ab'.repeat(32)}`, 400],
    [`starting_after=${'ab'.repeat(32)}`, 404],
    [`ending_before=${'ab'.repeat(32)}`, 404],
  ])('%s is refused', async (query, status) => {
    const response = await harness.api.request(`/v1/blocks?${query}`);
    expect(response.status).toBe(status);
  });
});

const getBlock = (hash: string, query: Record<string, string> = {}) =>
  harness.api.getChecked('/v1/blocks/{hash}', { hash }, query);

/** Miners and rewards are for explorer-reads.db.test.ts. */
function withoutRewards(block: unknown): object {
  const {
    miner: _1,
    subsidy: _2,
    fees: _3,
    redReward: _4,
    reward: _5,
    rewardTransactionId: _6,
    ...rest
  } = block as Record<string, unknown>;
  return rest;
}

describe('a block', () => {
  test('has the fields of the node, and its acceptance', async () => {
    const { sink } = harness.simulatedDag.node.dag;
    for (const block of sample([...known.values()], 60)) {
      for (const withTransactions of [false, true]) {
        const recorded = await harness.node.call('getBlock', {
          hash: block.hash,
          includeTransactions: withTransactions,
        });
        if (recorded.block === undefined) throw new Error('the node has no such block');
        const counted = block.chainIndex === undefined ? block.mergingBlock : block;
        const { json } = await getBlock(block.hash, withTransactions ? { include_transactions: 'true' } : {});
        expect(withSortedChildren(withoutRewards(json['block']))).toEqual(
          withSortedChildren({
            ...expectedBlock(recorded.block, { withTransactions }),
            ...expectedRestBlock(block),
            confirmations: counted === undefined ? 0 : Number(sink.header.blueScore - counted.header.blueScore),
          }),
        );
      }
    }
  });

  test('is found by any form of its hash; an unknown or malformed hash is refused', async () => {
    const { hash } = harness.simulatedDag.node.dag.genesis;
    const { json } = await getBlock(hash);
    expect((await getBlock(`0x${hash.toUpperCase()}`)).json).toEqual(json);
    expect((await getBlock('ab'.repeat(32))).json).toEqual({ statusCode: 404, message: 'Unknown block' });
    expect((await getBlock('ab')).status).toBe(400);
  });
});

describe('blocks by DAA score', () => {
  const template = '/v1/blocks/daa-score/{start}/{end}';
  const get = (start: bigint | string, end: bigint | string) =>
    harness.api.getChecked(template, { start: String(start), end: String(end) });

  test.each([0n, 1n, 20n, 100n])('lists a range of %s by score and hash, and each transaction once', async (span) => {
    const top = harness.simulatedDag.node.dag.sink.header.daaScore;
    for (const start of [0n, top / 2n, top - span]) {
      const blocks = [...known.values()]
        .filter(({ header }) => header.daaScore >= start && header.daaScore <= start + span)
        .toSorted((a, b) => Number(a.header.daaScore - b.header.daaScore) || byHash(a, b));
      const { json } = await get(start, start + span);
      expect(json['blocks']).toEqual(blocks.map(expectedRestBlock));
      const ids = new Set(
        blocks.flatMap((block) => block.transactions.map(({ transactionId }) => toHex(transactionId))),
      );
      const transactions = json['transactions'] as { transactionId: string }[];
      expect(transactions.map(({ transactionId }) => transactionId)).toEqual([...ids]);
    }
  });

  test('has the transactions of the look-up', async () => {
    const top = harness.simulatedDag.node.dag.sink.header.daaScore;
    const { json } = await get(top - 30n, top - 20n);
    const transactions = json['transactions'] as { transactionId: string }[];
    const transactionIds = transactions.map(({ transactionId }) => transactionId);
    expect(transactions.length).toBeGreaterThan(10);
    const lookUp = await harness.api.request('/v1/transactions', { body: { transactionIds } });
    expect(transactions).toEqual(lookUp.json['transactions']);
  });

  test('is empty for scores without blocks', async () => {
    for (const start of [harness.simulatedDag.node.dag.sink.header.daaScore + 1000n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect((await get(start, start)).json).toEqual({ blocks: [], transactions: [] });
    }
    expect((await get(2n ** 63n - 50n, 2n ** 63n + 50n)).json).toEqual({ blocks: [], transactions: [] });
  });

  test.each([
    [5n, 4n],
    [0n, 101n],
    [0n, 2n ** 64n - 1n],
  ])('from %s to %s is refused, and named', async (start, end) => {
    const { status, json } = await get(start, end);
    expect(status).toBe(400);
    expect(json['details']).toEqual([{ path: 'end', message: 'must be from start to start + 100' }]);
  });

  test.each(['-1', '1.5', 'x', String(2n ** 64n)])('refuses the score %s', async (start) => {
    const { status, json } = await get(start, '5');
    expect(status).toBe(400);
    expect(json['details']).toMatchObject([{ path: 'start' }]);
  });
});

const byHash = (a: { hash: string }, b: { hash: string }): number => (a.hash < b.hash ? -1 : 1);

/** Spread over the whole, the last one too. */
function sample<T>(items: readonly T[], count: number): T[] {
  const step = Math.ceil(items.length / count);
  return items.filter((_, index) => (items.length - 1 - index) % step === 0);
}

/**
 * The order of children is not fixed, and the index knows only those that the virtual block has in
 * its past.
 */
function withSortedChildren(block: unknown): unknown {
  const { verboseData, ...rest } = block as { verboseData: { childrenHashes: string[] } };
  const childrenHashes = verboseData.childrenHashes.filter((hash) => known.has(hash)).toSorted();
  return { ...rest, verboseData: { ...verboseData, childrenHashes } };
}

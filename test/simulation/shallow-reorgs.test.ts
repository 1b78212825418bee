/**
 * At the tip, a reorg of a few blocks is followed with what the source still has and what it
 * requests anyway.
 */
import { compareByBlueWork, sinkAnticone } from '@kasgres/devnet';
import { fromHex, type Hash, toHex } from '@kasgres/kaspa';
import { expect, test, vi } from 'vitest';
import type { SimulatedDag } from '../support/simulated-dag.ts';
import { openSource, startSimulatedDag } from './source-harness.ts';

/** The tests alone decide which branch is the chain. */
const NO_REORGS = { reorgRate: 0 };

/**
 * Follows a node from its sink on, and applies the updates. `forks` counts requests for blocks
 * after another block than the last one.
 */
async function follow(simulatedDag: SimulatedDag) {
  const { client, source } = await openSource(simulatedDag, { batchTransactions: 1e9, maxBytesAhead: 1e9 });
  const { dag } = simulatedDag.node;
  const chain = dag.chainBlocks.map(({ hash }) => hash);
  const followed = {
    chain,
    mergeSets: new Map<string, string[]>(),
    tail: [] as string[],
    depths: [] as number[],
    forks: 0,
  };
  const getBlock = vi.spyOn(client, 'getBlock');
  const getBlocks = client.getBlocks.bind(client);
  vi.spyOn(client, 'getBlocks').mockImplementation((request, options) => {
    if (toHex(request.lowHash as Hash) !== chain.at(-1)) followed.forks += 1;
    return getBlocks(request, options);
  });
  const run = async (): Promise<void> => {
    const { hash, header } = dag.sink;
    for await (const update of source.updates({ hash: fromHex(hash), blueScore: header.blueScore })) {
      for (const removed of update.removed) expect(chain.pop()).toBe(toHex(removed));
      if (update.removed.length > 0) followed.depths.push(update.removed.length);
      for (const { block, mergeSet } of update.added) {
        chain.push(toHex(block.hash));
        followed.mergeSets.set(
          toHex(block.hash),
          mergeSet.map((merged) => toHex(merged.hash)),
        );
      }
      if (update.tail !== undefined) followed.tail = update.tail.map(({ hash }) => toHex(hash));
    }
  };
  const ended = run();
  ended.catch(() => undefined);
  const reached = async (): Promise<void> => {
    const isReached = vi.waitFor(() => expect(chain.at(-1)).toBe(dag.sink.hash), { timeout: 20_000 });
    await Promise.race([isReached, ended]);
  };
  const expectRight = async (): Promise<void> => {
    await reached();
    expect(chain).toEqual(dag.chainBlocks.map(({ hash }) => hash));
    for (const [hash, mergeSet] of followed.mergeSets) {
      expect(mergeSet).toEqual(dag.get(hash).mergeSet.map((merged) => merged.hash));
    }
    const expected = sinkAnticone(dag).filter((block) => compareByBlueWork(block, dag.sink) < 0);
    await vi.waitFor(() => expect(followed.tail.toSorted()).toEqual(expected.map(({ hash }) => hash).toSorted()), {
      timeout: 5_000,
    });
  };
  return { followed, getBlock, expectRight };
}

function mineChain(simulatedDag: SimulatedDag, chainBlocks: number): void {
  const { dag } = simulatedDag.node;
  const end = dag.chainBlocks.length + chainBlocks;
  while (dag.chainBlocks.length < end) simulatedDag.mine(1);
}

test('a reorg of a few blocks needs no further request, and gives the mergesets and unmerged blocks of the node', async () => {
  const dag = await startSimulatedDag('followed', NO_REORGS);
  const other = await startSimulatedDag('other miners', NO_REORGS);
  dag.mine(30);
  const { followed, getBlock, expectRight } = await follow(dag);
  // The source has no blocks from before it began.
  dag.mine(5);
  await expectRight();
  other.receiveBlocksOf(dag);
  for (let round = 0; round < 12; round += 1) {
    dag.mine(1 + (round % 3));
    await expectRight();
    other.mineBeyond(dag, 1);
    dag.receiveBlocksOf(other);
    await expectRight();
    other.receiveBlocksOf(dag);
  }
  expect(followed.depths.length).toBeGreaterThanOrEqual(12);
  // A response about blocks may be older than that about the chain.
  expect(followed.forks).toBeLessThanOrEqual(2);
  expect(getBlock).not.toHaveBeenCalled();
});

test('a reorg of more blocks than the source has is requested from the node', async () => {
  const dag = await startSimulatedDag('followed far', NO_REORGS);
  const other = await startSimulatedDag('other miners far', NO_REORGS);
  dag.mine(30);
  other.receiveBlocksOf(dag);
  const { followed, getBlock, expectRight } = await follow(dag);
  mineChain(dag, 40);
  await expectRight();
  mineChain(other, 40);
  other.mineBeyond(dag, 1);
  dag.receiveBlocksOf(other);
  await expectRight();
  expect(Math.max(...followed.depths)).toBeGreaterThan(32);
  expect(followed.forks).toBeGreaterThan(0);
  expect(getBlock).toHaveBeenCalled();
});

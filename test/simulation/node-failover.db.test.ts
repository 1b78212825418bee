/**
 * Several nodes in NODE_URL: the indexer follows one until it fails, then the next, and never
 * combines responses of two.
 */
import { getNetwork } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { afterEach, expect, test } from 'vitest';
import { atRest, expectRight, createHarness, type Harness } from '../support/harness.ts';
import {
  NodeBehindProxy,
  nodeThatDiffers,
  type RunningIndexer,
  SimulatedDag,
  startIndexing,
} from '../support/simulated-dag.ts';

const WAIT = { timeout: 60_000, interval: 20 };
/** A catch-up has many of these small batches. */
const BATCH = { batchTransactions: '40' };

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

async function serve(...parameters: Parameters<typeof NodeBehindProxy.start>): Promise<NodeBehindProxy> {
  const node = await NodeBehindProxy.start(...parameters);
  running.push(() => node.stop());
  return node;
}

function follow({ simulatedDag, database }: Harness, ...nodes: NodeBehindProxy[]): RunningIndexer {
  const NODE_URL = nodes.map(({ url }) => url).join();
  const indexer = startIndexing(simulatedDag, database.url, { ...BATCH, NODE_URL });
  running.push(() => indexer.stop().catch(() => undefined));
  return indexer;
}

const untilFollowed = (indexer: RunningIndexer, node: NodeBehindProxy) =>
  expect.poll(() => indexer.nodes.name, WAIT).toBe(node.name);

const untilSwitched = (indexer: RunningIndexer, times: number) =>
  expect
    .poll(async () => (await indexer.metrics.nodeFailovers.get()).values[0]?.value, WAIT)
    .toBeGreaterThanOrEqual(times);

/** Creates another node with all blocks of the first. */
async function peerOf(simulatedDag: SimulatedDag): Promise<SimulatedDag> {
  const peer = await SimulatedDag.start('peer');
  running.push(() => peer.stop());
  peer.receiveBlocksOf(simulatedDag);
  return peer;
}

async function rows({ database }: Harness): Promise<number> {
  const { rows: counted } = await database.pool.query<{ count: number }>('select count(*)::int as count from blocks');
  return counted[0]?.count ?? 0;
}

test('the indexer finishes the catch-up with the second node when the first dies', async () => {
  const harness = await createHarness('dies in catch-up');
  harness.simulatedDag.mine(150);
  const peer = await peerOf(harness.simulatedDag);
  let pages = 0;
  // It fails after the first page, and at every retry.
  const first = await serve(harness.simulatedDag.node, (op) => {
    if (op === 'getBlocks') pages += 1;
    return op === 'getBlocks' && pages > 1 ? { kind: 'drop' } : undefined;
  });
  const second = await serve(peer.node);
  const indexer = follow(harness, first, second);
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(harness);
});

test('the indexer fails over in turn when nodes die and come back at the tip', async () => {
  const harness = await createHarness('dies at the tip');
  const { simulatedDag } = harness;
  simulatedDag.mine(40);
  const peer = await peerOf(simulatedDag);
  const [first, second] = [await serve(simulatedDag.node), await serve(peer.node)];
  const indexer = follow(harness, first, second);
  await atRest(harness.database, harness.node, indexer);
  for (const [dying, next] of [
    [first, second],
    [second, first],
    [first, second],
  ] as const) {
    expect(indexer.nodes.name).toBe(dying.name);
    dying.goAway();
    await untilFollowed(indexer, next);
    simulatedDag.mine(15);
    peer.receiveBlocksOf(simulatedDag);
    await atRest(harness.database, harness.node, indexer);
    dying.comeBack();
    // The indexer keeps the current node while it works.
    expect(indexer.nodes.name).toBe(next.name);
  }
  await indexer.stop();
  await expectRight(harness);
});

test('the indexer follows whichever node comes back after all were away', async () => {
  const harness = await createHarness('all away');
  const { simulatedDag } = harness;
  simulatedDag.mine(30);
  const peer = await peerOf(simulatedDag);
  const [first, second] = [await serve(simulatedDag.node), await serve(peer.node)];
  first.goAway();
  second.goAway();
  const indexer = follow(harness, first, second);
  await untilSwitched(indexer, 2);
  second.comeBack();
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(harness);
});

test('the indexer waits for a second node that is behind, and reverts nothing', async () => {
  const harness = await createHarness('behind');
  const { simulatedDag } = harness;
  simulatedDag.mine(30);
  const peer = await peerOf(simulatedDag);
  simulatedDag.mine(30);
  const [first, second] = [await serve(simulatedDag.node), await serve(peer.node)];
  const indexer = follow(harness, first, second);
  await atRest(harness.database, harness.node, indexer);
  const before = await rows(harness);
  first.goAway();
  await untilSwitched(indexer, 3);
  expect(await rows(harness)).toBe(before);
  simulatedDag.mine(10);
  peer.receiveBlocksOf(simulatedDag);
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(harness);
});

test('failover to a node on a heavier branch is an ordinary reorg, whether it knows both branches or not', async () => {
  const harness = await createHarness('another branch');
  const { simulatedDag } = harness;
  simulatedDag.mine(30);
  const peer = await peerOf(simulatedDag);
  const [first, second] = [await serve(simulatedDag.node), await serve(peer.node)];
  const indexer = follow(harness, first, second);
  await atRest(harness.database, harness.node, indexer);
  // While they are disconnected, the second node finds more blocks.
  simulatedDag.mine(5);
  await atRest(harness.database, harness.node, indexer);
  peer.mineBeyond(simulatedDag, 25);
  first.goAway();
  await untilFollowed(indexer, second);
  peer.receiveBlocksOf(simulatedDag);
  simulatedDag.receiveBlocksOf(peer);
  expect(simulatedDag.node.dag.sink.hash).toBe(peer.node.dag.sink.hash);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
  await expectRight(harness);
});

test('the indexer skips a node of another network, and follows one without --utxoindex', async () => {
  const harness = await createHarness('unsuitable nodes');
  const { simulatedDag } = harness;
  simulatedDag.mine(30);
  const elsewhere = await serve(nodeThatDiffers(simulatedDag.node, { network: getNetwork('testnet-10') }));
  const unindexed = await serve(nodeThatDiffers(simulatedDag.node, { isUtxoIndexed: false }));
  const indexer = startIndexing(simulatedDag, harness.database.url, {
    NODE_URL: [elsewhere, unindexed].map(({ url }) => url).join(),
    NETWORK: 'simnet',
  });
  running.push(() => indexer.stop().catch(() => undefined));
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(unindexed.name);
  unindexed.goAway();
  await untilSwitched(indexer, 3);
  unindexed.comeBack();
  simulatedDag.mine(10);
  await atRest(harness.database, harness.node, indexer);
  await indexer.stop();
  await expectRight(harness);
});

test('the indexer follows the second node if the first has a new chain, and stops with an explanation if there is no second', async () => {
  const harness = await createHarness('wiped');
  const { simulatedDag } = harness;
  simulatedDag.mine(30);
  const wiped = await SimulatedDag.start('another chain');
  running.push(() => wiped.stop());
  const [old, right] = [await serve(simulatedDag.node), await serve(simulatedDag.node)];
  const before = follow(harness, old);
  await atRest(harness.database, harness.node, before);
  await before.stop();
  wiped.mineBeyond(simulatedDag, 60);
  const reset = await serve(wiped.node);
  const indexer = follow(harness, reset, right);
  simulatedDag.mine(5);
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(right.name);
  await indexer.stop();
  await expectRight(harness);

  const lost = follow(harness, reset, await serve(wiped.node));
  await expect(lost.ended).rejects.toThrow(/None of the nodes can be followed\..*no longer knows block/s);
  await expect(lost.ended).rejects.toBeInstanceOf(FatalError);
  await expectRight(harness);
});

test('the indexer fails over from a node whose responses are cut off repeatedly', async () => {
  const harness = await createHarness('cut responses');
  const { simulatedDag } = harness;
  simulatedDag.mine(60);
  const cutting = await serve(simulatedDag.node, (op) => (op === 'getBlocks' ? { kind: 'cut' } : undefined));
  const right = await serve(simulatedDag.node);
  const indexer = follow(harness, cutting, right);
  await atRest(harness.database, harness.node, indexer);
  expect(indexer.nodes.name).toBe(right.name);
  await indexer.stop();
  await expectRight(harness);
});

/** Several nodes in NODE_URL: one is followed until it fails, then the next; never what two of them say together. */
import { getNetwork } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { afterEach, expect, test } from 'vitest';
import { atRest, expectRight, setStage, type Stage } from './stage.ts';
import { NodeBehindProxy, nodeThatDiffers } from './node-behind-proxy.ts';
import { type RunningIndexer, startIndexing, World } from './world.ts';

const WAIT = { timeout: 60_000, interval: 20 };
/** Small, so that a catch-up is made of many. */
const BATCH = { BATCH_TRANSACTIONS: '40' };

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

async function serve(...parameters: Parameters<typeof NodeBehindProxy.start>): Promise<NodeBehindProxy> {
  const node = await NodeBehindProxy.start(...parameters);
  running.push(() => node.stop());
  return node;
}

function follow({ world, database }: Stage, ...nodes: NodeBehindProxy[]): RunningIndexer {
  const NODE_URL = nodes.map(({ url }) => url).join();
  const indexer = startIndexing(world, database.url, { ...BATCH, NODE_URL });
  running.push(() => indexer.stop().catch(() => undefined));
  return indexer;
}

const untilFollowed = (indexer: RunningIndexer, node: NodeBehindProxy) =>
  expect.poll(() => indexer.nodes.name, WAIT).toBe(node.name);

const untilSwitched = (indexer: RunningIndexer, times: number) =>
  expect
    .poll(async () => (await indexer.metrics.nodeSwitches.get()).values[0]?.value, WAIT)
    .toBeGreaterThanOrEqual(times);

/** Another node of the network, which has all of its blocks. */
async function peerOf(world: World): Promise<World> {
  const peer = await World.start('peer');
  running.push(() => peer.stop());
  peer.hear(world);
  return peer;
}

async function rows({ database }: Stage): Promise<number> {
  const { rows: counted } = await database.pool.query<{ count: number }>('select count(*)::int as count from blocks');
  return counted[0]?.count ?? 0;
}

test('the first node dies in the middle of the catch-up: the second goes on', async () => {
  const stage = await setStage('dies in catch-up');
  stage.world.mine(150);
  const peer = await peerOf(stage.world);
  let pages = 0;
  // It breaks off with the first page handed out, and again at each attempt to go on.
  const first = await serve(stage.world.node, (op) => {
    if (op === 'getBlocks') pages += 1;
    return op === 'getBlocks' && pages > 1 ? { kind: 'drop' } : undefined;
  });
  const second = await serve(peer.node);
  const indexer = follow(stage, first, second);
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(stage);
});

test('nodes die and come back at the tip, in turn, while the chain grows', async () => {
  const stage = await setStage('dies at the tip');
  const { world } = stage;
  world.mine(40);
  const peer = await peerOf(world);
  const [first, second] = [await serve(world.node), await serve(peer.node)];
  const indexer = follow(stage, first, second);
  await atRest(stage.database, stage.node, indexer);
  for (const [dying, next] of [
    [first, second],
    [second, first],
    [first, second],
  ] as const) {
    expect(indexer.nodes.name).toBe(dying.name);
    dying.goAway();
    await untilFollowed(indexer, next);
    world.mine(15);
    peer.hear(world);
    await atRest(stage.database, stage.node, indexer);
    dying.comeBack();
    // A better one is not searched for while the present one works.
    expect(indexer.nodes.name).toBe(next.name);
  }
  await indexer.stop();
  await expectRight(stage);
});

test('all nodes are away: whichever comes back is followed', async () => {
  const stage = await setStage('all away');
  const { world } = stage;
  world.mine(30);
  const peer = await peerOf(world);
  const [first, second] = [await serve(world.node), await serve(peer.node)];
  first.goAway();
  second.goAway();
  const indexer = follow(stage, first, second);
  await untilSwitched(indexer, 2);
  second.comeBack();
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(stage);
});

test('the second node is behind: it is waited for, and nothing is undone', async () => {
  const stage = await setStage('behind');
  const { world } = stage;
  world.mine(30);
  const peer = await peerOf(world);
  world.mine(30);
  const [first, second] = [await serve(world.node), await serve(peer.node)];
  const indexer = follow(stage, first, second);
  await atRest(stage.database, stage.node, indexer);
  const before = await rows(stage);
  first.goAway();
  await untilSwitched(indexer, 3);
  expect(await rows(stage)).toBe(before);
  world.mine(10);
  peer.hear(world);
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(second.name);
  await indexer.stop();
  await expectRight(stage);
});

test('the second node has another branch, of more work: a reorg like any other, whether it knows both or not', async () => {
  const stage = await setStage('another branch');
  const { world } = stage;
  world.mine(30);
  const peer = await peerOf(world);
  const [first, second] = [await serve(world.node), await serve(peer.node)];
  const indexer = follow(stage, first, second);
  await atRest(stage.database, stage.node, indexer);
  // Cut off from each other, the second finds more blocks than the first.
  world.mine(5);
  await atRest(stage.database, stage.node, indexer);
  peer.mineBeyond(world, 25);
  first.goAway();
  await untilFollowed(indexer, second);
  peer.hear(world);
  world.hear(peer);
  expect(world.node.dag.sink.hash).toBe(peer.node.dag.sink.hash);
  await atRest(stage.database, stage.node, indexer);
  await indexer.stop();
  await expectRight(stage);
});

test('it passes over a node of another network, and follows one without --utxoindex', async () => {
  const stage = await setStage('unsuitable nodes');
  const { world } = stage;
  world.mine(30);
  const elsewhere = await serve(nodeThatDiffers(world.node, { network: getNetwork('testnet-10') }));
  const unindexed = await serve(nodeThatDiffers(world.node, { isUtxoIndexed: false }));
  const indexer = startIndexing(world, stage.database.url, {
    NODE_URL: [elsewhere, unindexed].map(({ url }) => url).join(),
    NETWORK: 'simnet',
  });
  running.push(() => indexer.stop().catch(() => undefined));
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(unindexed.name);
  unindexed.goAway();
  await untilSwitched(indexer, 3);
  unindexed.comeBack();
  world.mine(10);
  await atRest(stage.database, stage.node, indexer);
  await indexer.stop();
  await expectRight(stage);
});

test('the first node was wiped and has a new chain: the second is followed, and without it the end is told in words', async () => {
  const stage = await setStage('wiped');
  const { world } = stage;
  world.mine(30);
  const wiped = await World.start('another chain');
  running.push(() => wiped.stop());
  const [old, right] = [await serve(world.node), await serve(world.node)];
  const before = follow(stage, old);
  await atRest(stage.database, stage.node, before);
  await before.stop();
  wiped.mineBeyond(world, 60);
  const reset = await serve(wiped.node);
  const indexer = follow(stage, reset, right);
  world.mine(5);
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(right.name);
  await indexer.stop();
  await expectRight(stage);

  const lost = follow(stage, reset, await serve(wiped.node));
  await expect(lost.ended).rejects.toThrow(/None of the nodes can be followed\..*does not know block .* any more/s);
  await expect(lost.ended).rejects.toBeInstanceOf(FatalError);
  await expectRight(stage);
});

test('a node whose answers are cut off, time and again, is left for the next', async () => {
  const stage = await setStage('cut answers');
  const { world } = stage;
  world.mine(60);
  const cutting = await serve(world.node, (op) => (op === 'getBlocks' ? { kind: 'cut' } : undefined));
  const right = await serve(world.node);
  const indexer = follow(stage, cutting, right);
  await atRest(stage.database, stage.node, indexer);
  expect(indexer.nodes.name).toBe(right.name);
  await indexer.stop();
  await expectRight(stage);
});

/** Indexes that begin at the pruning point of a node that has pruned: their coins are the simulation's, whatever happened on the way. */
import { NodeServer } from '@kasgres/devnet';
import { FatalError } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { atEnd, atRest, freshDatabase, type Stage } from './stage.ts';
import { startIndexing } from './world.ts';
import {
  expectRightFromItsStart,
  followToTheTip,
  gapsOf,
  loadedUtxos,
  pruneAbove,
  pruneBeforeEarlierHour,
  pruneBelowTip,
  setStageThatPrunes,
  startsOf,
  stopAnyhow,
  visibleRows,
} from './starts-stage.ts';

/** Several times what the longest takes. */
vi.setConfig({ testTimeout: 240_000 });

test('begun at a pruning point, and followed through reorganisations right above it and others', async () => {
  const stage = await setStageThatPrunes('start');
  const { world, database, node } = stage;
  const start = pruneAbove(world, 80);
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  expect(await startsOf(database.pool)).toEqual([
    { chainIndex: 0, hash: start.hash, utxos: world.node.pruningPointSet().utxos.length },
  ]);
  for (let step = 0; step < 2; step += 1) {
    world.mine(5);
    world.reorganise();
    await atRest(database, node, indexer);
  }
  for (let step = 0; step < 10; step += 1) {
    world.mine(4);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRightFromItsStart(stage);
  expect(await gapsOf(database.pool)).toEqual([]);
});

test('begun at a pruning point whose successors are of an earlier hour by their own times', async () => {
  const stage = await setStageThatPrunes('start before an earlier hour');
  pruneBeforeEarlierHour(stage.world, 60);
  await followToTheTip(stage);
  await expectRightFromItsStart(stage);
});

test('begun right below the tip, with a memory that forgets', async () => {
  const stage = await setStageThatPrunes('young start');
  const { world, database, node } = stage;
  world.mine(120);
  pruneBelowTip(world);
  const indexer = startIndexing(world, database.url, { MEMORY_TRANSACTIONS: '50', BATCH_TRANSACTIONS: '20' });
  await atRest(database, node, indexer);
  await expectRightFromItsStart(stage);
  world.mine(120);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRightFromItsStart(stage);
});

test('stopped and started again at any moment, while its UTXO set is loaded and in the catch-up that follows', async () => {
  const stage = await setStageThatPrunes('stops at a start');
  const { world, database } = stage;
  pruneAbove(world, 80);
  world.mine(100);
  world.p2pFaults.plan = () => ({ kind: 'delay', ms: 5 });
  for (let run = 0; run < 12; run += 1) {
    const indexer = startIndexing(world, database.url, { BATCH_TRANSACTIONS: '30' });
    await Promise.race([indexer.ended, new Promise((resolve) => setTimeout(resolve, 30 + 25 * run))]);
    await indexer.stop();
  }
  await followToTheTip(stage);
  await expectRightFromItsStart(stage);
});

test('the node moves its pruning point while the set is loaded: the load begins with the new one', async () => {
  const stage = await setStageThatPrunes('moved');
  const { world, database } = stage;
  const first = pruneAbove(world, 60);
  let moves = 0;
  world.p2pFaults.plan = (chunk) => {
    if (chunk === 2 && moves < 2) {
      moves += 1;
      pruneAbove(world, 10, world.node.dag.root);
    }
    return undefined;
  };
  await followToTheTip(stage);
  expect(moves).toBe(2);
  const { pruningPoint } = world.node;
  expect(pruningPoint).not.toBe(first.hash);
  expect((await startsOf(database.pool)).map(({ hash }) => hash)).toEqual([pruningPoint]);
  await expectRightFromItsStart(stage);
});

test('the node moves its pruning point when the whole set was read: the load begins with the new one', async () => {
  const stage = await setStageThatPrunes('moved at the end');
  const { world, database } = stage;
  pruneAbove(world, 60);
  const chunks = Math.floor(world.node.pruningPointSet().utxos.length / 50);
  let hasMoved = false;
  world.p2pFaults.plan = (chunk) => {
    if (chunk === chunks && !hasMoved) {
      hasMoved = true;
      // After the chunk is on its way.
      setImmediate(() => pruneAbove(world, 10, world.node.dag.root));
    }
    return undefined;
  };
  await followToTheTip(stage);
  expect(hasMoved).toBe(true);
  expect((await startsOf(database.pool)).map(({ hash }) => hash)).toEqual([world.node.pruningPoint]);
  await expectRightFromItsStart(stage);
});

test('the stream of the set breaks off, again and again', async () => {
  const stage = await setStageThatPrunes('cut off');
  const { world } = stage;
  pruneAbove(world, 60);
  let cuts = 0;
  world.p2pFaults.plan = (chunk) => {
    if (chunk !== cuts || cuts === 3) return undefined;
    cuts += 1;
    return { kind: 'cut-off' };
  };
  await followToTheTip(stage);
  expect(cuts).toBe(3);
  await expectRightFromItsStart(stage);
});

test('a set with an altered coin: nothing of it is shown, and the indexer ends with words', async () => {
  const stage = await setStageThatPrunes('altered');
  const { world, database } = stage;
  const start = pruneAbove(world, 60);
  world.p2pFaults.plan = (chunk) => (chunk === 1 ? { kind: 'altered' } : undefined);
  const indexer = startIndexing(world, database.url);
  await expect(indexer.ended).rejects.toThrow(
    new RegExp(`The UTXO set that .* hands out .* is not the one that the header of ${start.hash} commits to`),
  );
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toEqual({});
  expect(await loadedUtxos(database.pool)).toBe(0);

  // As from a node that was not ready yet.
  let reads = 0;
  world.p2pFaults.plan = (chunk) => {
    if (chunk === 0) reads += 1;
    return reads === 1 && chunk === 1 ? { kind: 'altered' } : undefined;
  };
  await followToTheTip(stage);
  expect(reads).toBe(2);
  await expectRightFromItsStart(stage);
});

/** Hands out the set of an earlier pruning point as that of the present one, in so many reads after each move. */
function handOutStaleSets({ world }: Stage, staleReads: number): { reads: number } {
  const counted = { reads: 0 };
  const stale = world.node.pruningPointSet().utxos;
  let point = '';
  let left = 0;
  world.p2pFaults.set = () => {
    if (point !== world.node.pruningPoint) left = staleReads;
    point = world.node.pruningPoint;
    return { ...world.node.pruningPointSet(), ...(left > 0 && { utxos: stale }) };
  };
  world.p2pFaults.plan = (chunk) => {
    if (chunk > 0) return undefined;
    counted.reads += 1;
    left -= 1;
    return undefined;
  };
  return counted;
}

test('it reads a set again that the node has yet to advance to its new pruning point', async () => {
  const stage = await setStageThatPrunes('set in transition');
  pruneAbove(stage.world, 40);
  const counted = handOutStaleSets(stage, 3);
  pruneAbove(stage.world, 20, stage.world.node.dag.root);
  await followToTheTip(stage);
  expect(counted.reads).toBe(4);
  await expectRightFromItsStart(stage);
});

test('it counts the attempts for one pruning point, and goes on as long as that keeps moving', async () => {
  const stage = await setStageThatPrunes('sets in transition');
  const { world, database, node } = stage;
  pruneAbove(world, 40);
  const counted = handOutStaleSets(stage, 3);
  const indexer = startIndexing(world, database.url);
  for (let move = 1; move <= 3; move += 1) {
    pruneAbove(world, 10, world.node.dag.root);
    // A stale read has begun for this pruning point when the next one comes.
    const { reads } = counted;
    await expect.poll(() => counted.reads, { timeout: 60_000 }).toBeGreaterThan(reads + 1);
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(counted.reads).toBeGreaterThan(4);
  await expectRightFromItsStart(stage);
});

test('it asks every node for a set that never fits, and then ends with an explanation', async () => {
  const stage = await setStageThatPrunes('never fits');
  const { world, database } = stage;
  pruneAbove(world, 60);
  const counted = handOutStaleSets(stage, 1_000);
  world.p2pFaults.set = () => ({ ...world.node.pruningPointSet(), utxos: [] });
  const second = await NodeServer.start({ state: world.node });
  atEnd(async () => second.close());
  const indexer = startIndexing(world, database.url, { NODE_URL: `${world.server.url},${second.url}` });
  await expect(indexer.ended).rejects.toThrow(/None of the nodes can be followed.*It was read 4 times/);
  expect(counted.reads).toBe(8);
  expect(await visibleRows(database.pool)).toEqual({});
});

test('where no p2p answers, one is waited for, and nothing is shown', async () => {
  const stage = await setStageThatPrunes('no p2p');
  const { world, database, node } = stage;
  pruneAbove(world, 60);
  const indexer = startIndexing(world, database.url, { NODE_P2P_URL: 'grpc://127.0.0.1:1' });
  const failures = async (): Promise<number> => {
    const { values } = await indexer.metrics.failures.get();
    return values.find(({ labels }) => labels['kind'] === 'node-unavailable')?.value ?? 0;
  };
  await expect.poll(failures, { timeout: 30_000 }).toBeGreaterThan(1);
  await stopAnyhow(indexer);
  expect(await visibleRows(database.pool)).toEqual({});
  const next = startIndexing(world, database.url);
  await atRest(database, node, next);
  await next.stop();
  await expectRightFromItsStart(stage);
});

test('a node that has not pruned is indexed from genesis, and goes on when it prunes', async () => {
  const stage = await setStageThatPrunes('prunes later');
  const { world, database, node } = stage;
  world.mine(60);
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  for (let step = 0; step < 3; step += 1) {
    pruneAbove(world, 5, world.node.dag.root);
    world.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  expect(await startsOf(database.pool)).toMatchObject([{ chainIndex: 0, hash: world.node.dag.genesis.hash, utxos: 0 }]);
  // A fresh index would begin later: its coins are the same.
  const fresh = { ...stage, database: await freshDatabase() };
  await followToTheTip(fresh);
  await expectRightFromItsStart(fresh);
});

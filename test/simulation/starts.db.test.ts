/** Indexes that begin at the pruning point of a node that has pruned: their coins are the simulation's, whatever happened on the way. */
import { FatalError } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { atRest, freshDatabase } from './stage.ts';
import { startIndexing } from './world.ts';
import {
  expectRightFromItsStart,
  followToTheTip,
  gapsOf,
  loadedUtxos,
  pruneAbove,
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

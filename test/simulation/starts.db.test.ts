/** Indexes that begin at the pruning point of a node that has pruned: their UTXOs are the simulation's, whatever happened on the way. */
import { NodeServer } from '@kasgres/devnet';
import { FatalError } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { onTestEnd, atRest, freshDatabase, type Harness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import {
  expectRightFromBootstrap,
  followToTheTip,
  gapsOf,
  loadedUtxos,
  pruneAbove,
  pruneBeforeEarlierHour,
  pruneBelowTip,
  createPruningHarness,
  startsOf,
  stopIgnoringErrors,
  visibleRows,
} from './starts-harness.ts';

/** Several times what the longest takes. */
vi.setConfig({ testTimeout: 240_000 });

test('begun at a pruning point, and followed through reorganisations right above it and others', async () => {
  const harness = await createPruningHarness('start');
  const { simulatedDag, database, node } = harness;
  const start = pruneAbove(simulatedDag, 80);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  expect(await startsOf(database.pool)).toEqual([
    { chainIndex: 0, hash: start.hash, utxos: simulatedDag.node.pruningPointSet().utxos.length },
  ]);
  for (let step = 0; step < 2; step += 1) {
    simulatedDag.mine(5);
    simulatedDag.reorganise();
    await atRest(database, node, indexer);
  }
  for (let step = 0; step < 10; step += 1) {
    simulatedDag.mine(4);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRightFromBootstrap(harness);
  expect(await gapsOf(database.pool)).toEqual([]);
});

test('begun at a pruning point whose successors are of an earlier hour by their own times', async () => {
  const harness = await createPruningHarness('start before an earlier hour');
  pruneBeforeEarlierHour(harness.simulatedDag, 60);
  await followToTheTip(harness);
  await expectRightFromBootstrap(harness);
});

test('begun right below the tip, with a memory that forgets', async () => {
  const harness = await createPruningHarness('young start');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(120);
  pruneBelowTip(simulatedDag);
  const indexer = startIndexing(simulatedDag, database.url, { MEMORY_TRANSACTIONS: '50', BATCH_TRANSACTIONS: '20' });
  await atRest(database, node, indexer);
  await expectRightFromBootstrap(harness);
  simulatedDag.mine(120);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRightFromBootstrap(harness);
});

test('stopped and started again at any moment, while its UTXO set is loaded and in the catch-up that follows', async () => {
  const harness = await createPruningHarness('stops at a start');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 80);
  simulatedDag.mine(100);
  simulatedDag.p2pFaults.plan = () => ({ kind: 'delay', ms: 5 });
  for (let run = 0; run < 12; run += 1) {
    const indexer = startIndexing(simulatedDag, database.url, { BATCH_TRANSACTIONS: '30' });
    await Promise.race([indexer.ended, new Promise((resolve) => setTimeout(resolve, 30 + 25 * run))]);
    await indexer.stop();
  }
  await followToTheTip(harness);
  await expectRightFromBootstrap(harness);
});

test('the node moves its pruning point while the set is loaded: the load begins with the new one', async () => {
  const harness = await createPruningHarness('moved');
  const { simulatedDag, database } = harness;
  const first = pruneAbove(simulatedDag, 60);
  let moves = 0;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === 2 && moves < 2) {
      moves += 1;
      pruneAbove(simulatedDag, 10, simulatedDag.node.dag.root);
    }
    return undefined;
  };
  await followToTheTip(harness);
  expect(moves).toBe(2);
  const { pruningPoint } = simulatedDag.node;
  expect(pruningPoint).not.toBe(first.hash);
  expect((await startsOf(database.pool)).map(({ hash }) => hash)).toEqual([pruningPoint]);
  await expectRightFromBootstrap(harness);
});

test('the node moves its pruning point when the whole set was read: the load begins with the new one', async () => {
  const harness = await createPruningHarness('moved at the end');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 60);
  const chunks = Math.floor(simulatedDag.node.pruningPointSet().utxos.length / 50);
  let hasMoved = false;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === chunks && !hasMoved) {
      hasMoved = true;
      // After the chunk is on its way.
      setImmediate(() => pruneAbove(simulatedDag, 10, simulatedDag.node.dag.root));
    }
    return undefined;
  };
  await followToTheTip(harness);
  expect(hasMoved).toBe(true);
  expect((await startsOf(database.pool)).map(({ hash }) => hash)).toEqual([simulatedDag.node.pruningPoint]);
  await expectRightFromBootstrap(harness);
});

test('the stream of the set breaks off, again and again', async () => {
  const harness = await createPruningHarness('cut off');
  const { simulatedDag } = harness;
  pruneAbove(simulatedDag, 60);
  let cuts = 0;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk !== cuts || cuts === 3) return undefined;
    cuts += 1;
    return { kind: 'cut-off' };
  };
  await followToTheTip(harness);
  expect(cuts).toBe(3);
  await expectRightFromBootstrap(harness);
});

test('a set with an altered UTXO: nothing of it is shown, and the indexer ends with words', async () => {
  const harness = await createPruningHarness('altered');
  const { simulatedDag, database } = harness;
  const start = pruneAbove(simulatedDag, 60);
  simulatedDag.p2pFaults.plan = (chunk) => (chunk === 1 ? { kind: 'altered' } : undefined);
  const indexer = startIndexing(simulatedDag, database.url);
  await expect(indexer.ended).rejects.toThrow(
    new RegExp(`The UTXO set that .* hands out .* is not the one that the header of ${start.hash} commits to`),
  );
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toEqual({});
  expect(await loadedUtxos(database.pool)).toBe(0);

  // As from a node that was not ready yet.
  let reads = 0;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === 0) reads += 1;
    return reads === 1 && chunk === 1 ? { kind: 'altered' } : undefined;
  };
  await followToTheTip(harness);
  expect(reads).toBe(2);
  await expectRightFromBootstrap(harness);
});

/** Hands out the set of an earlier pruning point as that of the present one, in so many reads after each move. */
function handOutStaleSets({ simulatedDag }: Harness, staleReads: number): { reads: number } {
  const counted = { reads: 0 };
  const stale = simulatedDag.node.pruningPointSet().utxos;
  let point = '';
  let left = 0;
  simulatedDag.p2pFaults.set = () => {
    if (point !== simulatedDag.node.pruningPoint) left = staleReads;
    point = simulatedDag.node.pruningPoint;
    return { ...simulatedDag.node.pruningPointSet(), ...(left > 0 && { utxos: stale }) };
  };
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk > 0) return undefined;
    counted.reads += 1;
    left -= 1;
    return undefined;
  };
  return counted;
}

test('it reads a set again that the node has yet to advance to its new pruning point', async () => {
  const harness = await createPruningHarness('set in transition');
  pruneAbove(harness.simulatedDag, 40);
  const counted = handOutStaleSets(harness, 3);
  pruneAbove(harness.simulatedDag, 20, harness.simulatedDag.node.dag.root);
  await followToTheTip(harness);
  expect(counted.reads).toBe(4);
  await expectRightFromBootstrap(harness);
});

test('it counts the attempts for one pruning point, and goes on as long as that keeps moving', async () => {
  const harness = await createPruningHarness('sets in transition');
  const { simulatedDag, database, node } = harness;
  pruneAbove(simulatedDag, 40);
  const counted = handOutStaleSets(harness, 3);
  const indexer = startIndexing(simulatedDag, database.url);
  for (let move = 1; move <= 3; move += 1) {
    pruneAbove(simulatedDag, 10, simulatedDag.node.dag.root);
    // A stale read has begun for this pruning point when the next one comes.
    const { reads } = counted;
    await expect.poll(() => counted.reads, { timeout: 60_000 }).toBeGreaterThan(reads + 1);
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(counted.reads).toBeGreaterThan(4);
  await expectRightFromBootstrap(harness);
});

test('it asks every node for a set that never fits, and then ends with an explanation', async () => {
  const harness = await createPruningHarness('never fits');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 60);
  const counted = handOutStaleSets(harness, 1_000);
  simulatedDag.p2pFaults.set = () => ({ ...simulatedDag.node.pruningPointSet(), utxos: [] });
  const second = await NodeServer.start({ state: simulatedDag.node });
  onTestEnd(async () => second.close());
  const indexer = startIndexing(simulatedDag, database.url, { NODE_URL: `${simulatedDag.server.url},${second.url}` });
  await expect(indexer.ended).rejects.toThrow(/None of the nodes can be followed.*It was read 4 times/);
  expect(counted.reads).toBe(8);
  expect(await visibleRows(database.pool)).toEqual({});
});

test('where no p2p answers, one is waited for, and nothing is shown', async () => {
  const harness = await createPruningHarness('no p2p');
  const { simulatedDag, database, node } = harness;
  pruneAbove(simulatedDag, 60);
  const indexer = startIndexing(simulatedDag, database.url, { NODE_P2P_URL: 'grpc://127.0.0.1:1' });
  const failures = async (): Promise<number> => {
    const { values } = await indexer.metrics.failures.get();
    return values.find(({ labels }) => labels['kind'] === 'node-unavailable')?.value ?? 0;
  };
  await expect.poll(failures, { timeout: 30_000 }).toBeGreaterThan(1);
  await stopIgnoringErrors(indexer);
  expect(await visibleRows(database.pool)).toEqual({});
  const next = startIndexing(simulatedDag, database.url);
  await atRest(database, node, next);
  await next.stop();
  await expectRightFromBootstrap(harness);
});

test('a node that has not pruned is indexed from genesis, and goes on when it prunes', async () => {
  const harness = await createPruningHarness('prunes later');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  for (let step = 0; step < 3; step += 1) {
    pruneAbove(simulatedDag, 5, simulatedDag.node.dag.root);
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  expect(await startsOf(database.pool)).toMatchObject([
    { chainIndex: 0, hash: simulatedDag.node.dag.genesis.hash, utxos: 0 },
  ]);
  // A fresh index would begin later: its UTXOs are the same.
  const fresh = { ...harness, database: await freshDatabase() };
  await followToTheTip(fresh);
  await expectRightFromBootstrap(fresh);
});

/**
 * Indexes that are bootstrapped at a pruning point have the UTXOs of the oracle, after any
 * failures.
 */
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
  bootstrapsOf,
  stopIgnoringErrors,
  visibleRows,
} from './bootstraps-harness.ts';

vi.setConfig({ testTimeout: 240_000 });

test('an index bootstrapped at a pruning point follows reorgs, also right above it', async () => {
  const harness = await createPruningHarness('start');
  const { simulatedDag, database, node } = harness;
  const start = pruneAbove(simulatedDag, 80);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  expect(await bootstrapsOf(database.pool)).toEqual([
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

test('an index is right if blocks above its bootstrap block have timestamps in the hour before it', async () => {
  const harness = await createPruningHarness('start before an earlier hour');
  pruneBeforeEarlierHour(harness.simulatedDag, 60);
  await followToTheTip(harness);
  await expectRightFromBootstrap(harness);
});

test('an index bootstrapped right below the tip, with little memory, is right', async () => {
  const harness = await createPruningHarness('young start');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(120);
  pruneBelowTip(simulatedDag);
  const indexer = startIndexing(simulatedDag, database.url, { memoryTransactions: '50', batchTransactions: '20' });
  await atRest(database, node, indexer);
  await expectRightFromBootstrap(harness);
  simulatedDag.mine(120);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRightFromBootstrap(harness);
});

test('a bootstrap that is stopped and restarted at any moment is right', async () => {
  const harness = await createPruningHarness('stops at a start');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 80);
  simulatedDag.mine(100);
  simulatedDag.p2pFaults.plan = () => ({ kind: 'delay', ms: 5 });
  for (let run = 0; run < 12; run += 1) {
    const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '30' });
    await Promise.race([indexer.ended, new Promise((resolve) => setTimeout(resolve, 30 + 25 * run))]);
    await indexer.stop();
  }
  await followToTheTip(harness);
  await expectRightFromBootstrap(harness);
});

test('a load starts from scratch when the pruning point moves during it', async () => {
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
  expect((await bootstrapsOf(database.pool)).map(({ hash }) => hash)).toEqual([pruningPoint]);
  await expectRightFromBootstrap(harness);
});

test('a load starts from scratch when the pruning point moves after the last chunk', async () => {
  const harness = await createPruningHarness('moved at the end');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 60);
  const chunks = Math.floor(simulatedDag.node.pruningPointSet().utxos.length / 50);
  let hasMoved = false;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === chunks && !hasMoved) {
      hasMoved = true;
      // The chunk is already sent.
      setImmediate(() => pruneAbove(simulatedDag, 10, simulatedDag.node.dag.root));
    }
    return undefined;
  };
  await followToTheTip(harness);
  expect(hasMoved).toBe(true);
  expect((await bootstrapsOf(database.pool)).map(({ hash }) => hash)).toEqual([simulatedDag.node.pruningPoint]);
  await expectRightFromBootstrap(harness);
});

test('a load survives a stream that breaks off repeatedly', async () => {
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

test('an altered UTXO set is never visible, and stops the indexer with an explanation', async () => {
  const harness = await createPruningHarness('altered');
  const { simulatedDag, database } = harness;
  const start = pruneAbove(simulatedDag, 60);
  simulatedDag.p2pFaults.plan = (chunk) => (chunk === 1 ? { kind: 'altered' } : undefined);
  const indexer = startIndexing(simulatedDag, database.url);
  await expect(indexer.ended).rejects.toThrow(
    new RegExp(`The UTXO set of .* is not the one that the header of ${start.hash} commits to`),
  );
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toEqual({});
  expect(await loadedUtxos(database.pool)).toBe(0);

  // A node that is not ready yet responds like this.
  let reads = 0;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === 0) reads += 1;
    return reads === 1 && chunk === 1 ? { kind: 'altered' } : undefined;
  };
  await followToTheTip(harness);
  expect(reads).toBe(2);
  await expectRightFromBootstrap(harness);
});

test('a UTXO set with more sompi than exist is refused before its end, and nothing of it is kept', async () => {
  const harness = await createPruningHarness('more than exists');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 60);
  let reads = 0;
  simulatedDag.p2pFaults.plan = (chunk) => {
    if (chunk === 0) reads += 1;
    return undefined;
  };
  simulatedDag.p2pFaults.set = () => {
    const set = simulatedDag.node.pruningPointSet();
    return { ...set, utxos: set.utxos.map((utxo) => ({ ...utxo, amount: 10n ** 18n })) };
  };
  const indexer = startIndexing(simulatedDag, database.url);
  await expect.poll(() => reads, { timeout: 60_000 }).toBeGreaterThan(1);
  expect(await visibleRows(database.pool)).toEqual({});
  expect(await loadedUtxos(database.pool)).toBe(0);
  simulatedDag.p2pFaults.set = undefined;
  await atRest(database, harness.node, indexer);
  await indexer.stop();
  await expectRightFromBootstrap(harness);
});

/**
 * Serves the set of the former pruning point for the current one, in this many reads after each
 * move.
 */
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

test('the indexer reads a UTXO set again that the node has not advanced to its new pruning point', async () => {
  const harness = await createPruningHarness('set in transition');
  pruneAbove(harness.simulatedDag, 40);
  const counted = handOutStaleSets(harness, 3);
  pruneAbove(harness.simulatedDag, 20, harness.simulatedDag.node.dag.root);
  await followToTheTip(harness);
  expect(counted.reads).toBe(4);
  await expectRightFromBootstrap(harness);
});

test('the indexer counts its reads of a UTXO set by pruning point, and continues while that moves', async () => {
  const harness = await createPruningHarness('sets in transition');
  const { simulatedDag, database, node } = harness;
  pruneAbove(simulatedDag, 40);
  const counted = handOutStaleSets(harness, 3);
  const indexer = startIndexing(simulatedDag, database.url);
  for (let move = 1; move <= 3; move += 1) {
    pruneAbove(simulatedDag, 10, simulatedDag.node.dag.root);
    // A stale read of this pruning point is under way when the next one comes.
    const { reads } = counted;
    await expect.poll(() => counted.reads, { timeout: 60_000 }).toBeGreaterThan(reads + 1);
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(counted.reads).toBeGreaterThan(4);
  await expectRightFromBootstrap(harness);
});

test('the indexer asks every node for a UTXO set that never matches, and stops with an explanation', async () => {
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

test('the indexer waits for a p2p server without visible rows', async () => {
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

test('a node that has not pruned is indexed from genesis, also when it prunes later', async () => {
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
  expect(await bootstrapsOf(database.pool)).toMatchObject([
    { chainIndex: 0, hash: simulatedDag.node.dag.genesis.hash, utxos: 0 },
  ]);
  // A fresh index would be bootstrapped later, with the same UTXOs.
  const fresh = { ...harness, database: await freshDatabase() };
  await followToTheTip(fresh);
  await expectRightFromBootstrap(fresh);
});

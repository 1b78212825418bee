/**
 * Nodes that have pruned the blocks after the checkpoint, or have another chain below finality: the
 * indexer stops with an explanation, or records a gap and continues at the pruning point.
 */
import type { NodeState } from '@kasgres/devnet';
import { getNetwork } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { checkInvariant4 } from '@kasgres/verification';
import { afterEach, expect, test, vi } from 'vitest';
import { differencesOf, stateOf, takeSnapshot } from '../invariants/snapshot.ts';
import { endWaitingSession, holdAt, prepareSteps, release, untilOneWaits } from '../database-faults/held-steps.ts';
import {
  NodeBehindProxy,
  nodeThatDiffers,
  type RunningIndexer,
  SimulatedDag,
  startIndexing,
} from '../support/simulated-dag.ts';
import { applicationDifferences } from '../support/applications.ts';
import { atRest, freshDatabase, type Harness, expectInvariants } from '../support/harness.ts';
import {
  expectStateOfSimulatedDag,
  followToTheTip,
  gapsOf,
  forkBelowFinality,
  type Pruning,
  pruneAbove,
  createPruningHarness,
  bootstrapsOf,
  visibleRows,
  withLowFinality,
} from './bootstraps-harness.ts';

const RECORD = { ON_GAP: 'record' };

vi.setConfig({ testTimeout: 240_000 });

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

/**
 * Expects an index with any bootstrap blocks and gaps to be right, with the UTXOs of the oracle and
 * of a fresh index, and as the naive model says.
 */
async function expectRightInTheEnd(harness: Harness, { isBranchLost = false } = {}): Promise<void> {
  const { database, node, simulatedDag } = harness;
  await expectInvariants(database.pool, node);
  // The model reads the chain of the node, which does not have what the index has of another
  // branch.
  if (!isBranchLost) expect(await applicationDifferences(database.pool, simulatedDag)).toEqual([]);
  await expectStateOfSimulatedDag(harness);
  const fresh = { ...harness, database: await freshDatabase() };
  await followToTheTip(fresh);
  const [own, other] = [await takeSnapshot(database.pool), await takeSnapshot(fresh.database.pool)];
  expect(differencesOf(stateOf(other), stateOf(own))).toEqual([]);
}

test('a node that has pruned the checkpoint stops the indexer with an explanation, and no row changes', async () => {
  const harness = await createPruningHarness('gap, stop');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  const before = await visibleRows(database.pool);
  const snapshot = await takeSnapshot(database.pool);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  const indexer = startIndexing(simulatedDag, database.url);
  await expect(indexer.ended).rejects.toThrow(/has pruned/);
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toEqual(before);
  expect(differencesOf(snapshot, await takeSnapshot(database.pool))).toEqual([]);
});

test('a gap to a pruning point that merges a red block counts nothing of its mergeset', async () => {
  const harness = await createPruningHarness('gap, red', {}, { redRate: 0.2 });
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  const checkpoint = simulatedDag.node.dag.chainBlocks.length;
  simulatedDag.mine(250);
  const mergesRed = simulatedDag.node.dag.chainBlocks
    .slice(checkpoint + 10, -15)
    .find(({ mergeSetReds }) => mergeSetReds.length > 0);
  simulatedDag.node.prune(mergesRed?.hash ?? '');
  const indexer = startIndexing(simulatedDag, database.url, RECORD);
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(await gapsOf(database.pool)).toHaveLength(1);
  expect(await checkInvariant4(database.pool)).toEqual([]);
});

test('an index from genesis records two gaps, with reorgs between them', async () => {
  const harness = await createPruningHarness('gap, record');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  // A gap begins at the checkpoint, or lower if a reorg removed that.
  const gaps: { before: string }[] = [];
  for (let gap = 0; gap < 2; gap += 1) {
    gaps.push({ before: pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink).hash });
    const indexer = startIndexing(simulatedDag, database.url, RECORD);
    await atRest(database, node, indexer);
    simulatedDag.reorganise();
    await atRest(database, node, indexer);
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
    await indexer.stop();
    expect(await gapsOf(database.pool)).toMatchObject(gaps);
    await expectRightInTheEnd(harness);
  }
  const starts = await bootstrapsOf(database.pool);
  expect(starts.map(({ hash }) => hash)).toEqual([
    simulatedDag.node.dag.genesis.hash,
    ...gaps.map(({ before }) => before),
  ]);
});

test('an index from genesis records a gap during its first catch-up', async () => {
  const harness = await createPruningHarness('gap, first catch-up');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  await database.pool.query('update checkpoint set first_catch_up = true');
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  await followToTheTip(harness, RECORD);
  expect(await gapsOf(database.pool)).toHaveLength(1);
  await expectRightInTheEnd(harness);
});

test('a bootstrapped index records a gap, also if it is stopped at any moment', async () => {
  const harness = await createPruningHarness('gap, stops');
  const { simulatedDag, database } = harness;
  pruneAbove(simulatedDag, 60);
  await followToTheTip(harness);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  simulatedDag.p2pFaults.plan = () => ({ kind: 'delay', ms: 5 });
  for (let run = 0; run < 10; run += 1) {
    const indexer = startIndexing(simulatedDag, database.url, { ...RECORD, batchTransactions: '30' });
    await Promise.race([indexer.ended, new Promise((resolve) => setTimeout(resolve, 40 + 30 * run))]);
    await indexer.stop();
    // The state is kept at every moment: there is no first catch-up after a gap.
    expect(await checkInvariant4(database.pool)).toEqual([]);
  }
  await followToTheTip(harness, RECORD);
  expect(await gapsOf(database.pool)).toHaveLength(1);
  await expectRightInTheEnd(harness);
});

test('the state is complete at once after a gap, and follows the chain', async () => {
  const harness = await createPruningHarness('gap, state');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(80);
  await followToTheTip(harness);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  simulatedDag.mine(200);
  const { sink } = await node.call('getSink', {});
  let moments = 0;
  for (let isThere = false; !isThere; moments += 1) {
    const before = await getSink(database.pool);
    const indexer = startIndexing(simulatedDag, database.url, { ...RECORD, batchTransactions: '30' });
    // This waits for the gap, or for a batch after it.
    while ((await getSink(database.pool)) === before) await new Promise((resolve) => setTimeout(resolve, 1));
    await indexer.stop();
    expect(await gapsOf(database.pool)).toHaveLength(1);
    expect(await checkInvariant4(database.pool)).toEqual([]);
    isThere = (await getSink(database.pool)) === sink;
  }
  expect(moments).toBeGreaterThan(1);
  await expectRightInTheEnd(harness);
});

async function getSink(db: Harness['database']['pool']): Promise<string | undefined> {
  const { rows } = await db.query<{ sink: string }>(
    `select encode(b.hash, 'hex') as sink from checkpoint c join blocks b on b.id = c.block_id`,
  );
  return rows[0]?.sink;
}

test('a running indexer records a gap when its node comes back pruned, twice', async () => {
  const harness = await createPruningHarness('gap, running');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(40);
  const away = await NodeBehindProxy.start(simulatedDag.node);
  const indexer = startIndexing(simulatedDag, database.url, { ...RECORD, NODE_URL: away.url });
  running.push(
    () => away.stop(),
    () => indexer.stop().catch(() => undefined),
  );
  await atRest(database, node, indexer);
  const gaps: { before: string }[] = [];
  for (let gap = 0; gap < 2; gap += 1) {
    away.goAway();
    gaps.push({ before: pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink).hash });
    away.comeBack();
    await atRest(database, node, indexer);
    expect(await gapsOf(database.pool)).toMatchObject(gaps);
  }
  await indexer.stop();
  await expectRightInTheEnd(harness);
});

test('it logs a gap after the gap is committed', async () => {
  const { harness, indexer, step } = await startHeldGap('gap, log');
  const warn = vi.spyOn(indexer.log, 'warn');
  const logged = (): number =>
    warn.mock.calls.filter((call: unknown[]) => call.includes('began again at the pruning point of the node')).length;
  await untilOneWaits(harness, step);
  expect(logged()).toBe(0);
  await release(harness, step);
  await atRest(harness.database, harness.node, indexer);
  expect(logged()).toBe(1);
});

test('the metric of loaded UTXOs is above 0 until the write is committed or has failed', async () => {
  const { harness, indexer, step } = await startHeldGap('gap, metric');
  const loaded = async (): Promise<number | undefined> => (await indexer.metrics.bootstrapUtxos.get()).values[0]?.value;
  await untilOneWaits(harness, step);
  expect(await loaded()).toBeGreaterThan(0);
  // The next attempt does not load.
  harness.simulatedDag.p2pFaults.plan = () => ({ kind: 'cut-off' });
  await endWaitingSession(harness, step);
  await expect.poll(loaded).toBe(0);
  harness.simulatedDag.p2pFaults.plan = undefined;
  await untilOneWaits(harness, step);
  expect(await loaded()).toBeGreaterThan(0);
  await release(harness, step);
  await atRest(harness.database, harness.node, indexer);
  expect(await loaded()).toBe(0);
});

/** Starts an indexer that crosses a gap and waits at the commit of the new state. */
async function startHeldGap(name: string): Promise<{ harness: Harness; indexer: RunningIndexer; step: string }> {
  const harness = await createPruningHarness(name);
  const { simulatedDag, database } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  const step = 'bootstrap: commit';
  await prepareSteps(harness);
  await holdAt(harness, step);
  const indexer = startIndexing(simulatedDag, database.url, RECORD);
  running.push(
    () => indexer.stop().catch(() => undefined),
    () => release(harness, step),
  );
  return { harness, indexer, step };
}

test('an altered UTXO set at the end of a gap leaves the state unchanged', async () => {
  const harness = await createPruningHarness('gap, altered');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  const before = await takeSnapshot(database.pool);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  simulatedDag.p2pFaults.plan = (chunk) => (chunk === 0 ? { kind: 'altered' } : undefined);
  const indexer = startIndexing(simulatedDag, database.url, RECORD);
  await expect(indexer.ended).rejects.toThrow(/is not the one that the header of [0-9a-f]{64} commits to/);
  expect(differencesOf(before, await takeSnapshot(database.pool))).toEqual([]);
  simulatedDag.p2pFaults.plan = undefined;
  await followToTheTip(harness, RECORD);
  await expectRightInTheEnd(harness);
});

test('the indexer stops if the UTXO set of each of two pruned nodes is wrong', async () => {
  const { harness, nodeUrls } = await prunedNodes('gap, altered twice', ({ node }) => [node, node]);
  const { simulatedDag, database } = harness;
  const before = await takeSnapshot(database.pool);
  simulatedDag.p2pFaults.plan = (chunk) => (chunk === 0 ? { kind: 'altered' } : undefined);
  const indexer = startIndexing(simulatedDag, database.url, { ...RECORD, NODE_URL: nodeUrls.join() });
  running.push(() => indexer.stop().catch(() => undefined));
  await expect(indexer.ended).rejects.toThrow(
    /None of the nodes can be followed\.(.*is not the one that the header of){2}/s,
  );
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(differencesOf(before, await takeSnapshot(database.pool))).toEqual([]);
});

test.each(['first', 'second'])('the indexer records a gap if a node of another network comes %s', async (position) => {
  const { harness, nodeUrls } = await prunedNodes(`gap, other network ${position}`, ({ node }) => [
    nodeThatDiffers(node, { network: getNetwork('testnet-10') }),
    node,
  ]);
  const NODE_URL = (position === 'first' ? nodeUrls : nodeUrls.toReversed()).join();
  await followToTheTip(harness, { ...RECORD, NODE_URL });
  expect(await gapsOf(harness.database.pool)).toHaveLength(1);
  await expectRightInTheEnd(harness);
});

/** Creates an index, prunes its checkpoint, and serves these nodes. */
async function prunedNodes(
  name: string,
  nodesOf: (simulatedDag: SimulatedDag) => NodeState[],
): Promise<{ harness: Harness; nodeUrls: string[] }> {
  const harness = await createPruningHarness(name);
  const { simulatedDag } = harness;
  simulatedDag.mine(60);
  await followToTheTip(harness);
  pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
  const nodes = await Promise.all(nodesOf(simulatedDag).map((state) => NodeBehindProxy.start(state)));
  running.push(...nodes.map((node) => () => node.stop()));
  return { harness, nodeUrls: nodes.map(({ url }) => url) };
}

test('the indexer refuses a node whose pruning point is below the bootstrap block, with an explanation', async () => {
  const harness = await createPruningHarness('gap, below');
  pruneAbove(harness.simulatedDag, 80);
  await followToTheTip(harness);
  const other = await SimulatedDag.start('another chain', undefined, { commitsToUtxos: true });
  running.push(() => other.stop());
  other.mineBeyond(harness.simulatedDag, 400);
  const indexer = startIndexing(other, harness.database.url, RECORD);
  await expect(indexer.ended).rejects.toThrow(/is not above the bootstrap block of this database/);
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
});

const REORGS_BELOW_FINALITY: [Pruning, string][] = [
  ['at the fork', 'our chain: no gap, and ours above it is left'],
  ['on its branch', 'its own branch: ours is left as far as it is not below'],
  ['on its branch, with our blocks merged', 'its own branch, with our blocks merged above it'],
];

for (const [prunes, name] of REORGS_BELOW_FINALITY) {
  test(`a reorg below finality becomes a gap if the pruning point is on ${name}`, async () => {
    const harness = await createPruningHarness(`below finality ${prunes}`);
    const { simulatedDag, database } = harness;
    simulatedDag.mine(80);
    const peer = await forkBelowFinality(harness, prunes, () => followToTheTip(harness));
    expect(await gapsOf(database.pool)).toEqual([]);

    await withLowFinality(async () => {
      await expect(startIndexing(peer.simulatedDag, database.url).ended).rejects.toBeInstanceOf(FatalError);
      await followToTheTip(peer, RECORD);
    });
    const { pruningPoint } = peer.simulatedDag.node;
    expect((await bootstrapsOf(database.pool)).map(({ hash }) => hash)).toEqual([
      simulatedDag.node.dag.genesis.hash,
      pruningPoint,
    ]);
    expect((await gapsOf(database.pool)).map(({ before }) => before)).toEqual(
      prunes === 'at the fork' ? [] : [pruningPoint],
    );
    await expectRightInTheEnd(peer, { isBranchLost: prunes !== 'at the fork' });
  });
}

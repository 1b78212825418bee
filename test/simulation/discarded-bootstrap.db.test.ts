/**
 * An index in the catch-up from its only bootstrap block is disposable: when the node prunes the
 * blocks after its checkpoint, it is bootstrapped again at the new pruning point with any ON_GAP,
 * and a crash at any moment of that is harmless (invariant 11).
 */
import { FatalError } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { endWaitingSession, holdAt, release, prepareSteps, untilOneWaits } from '../database-faults/held-steps.ts';
import { atRest, type Harness, onTestEnd, untilAtRest } from '../support/harness.ts';
import { type Program, startIndexerWithSmallBatches } from '../support/programs.ts';
import {
  expectRightFromBootstrap,
  followToTheTip,
  gapsOf,
  pruneAbove,
  createPruningHarness,
  bootstrapsOf,
  visibleRows,
} from './bootstraps-harness.ts';
import { type RunningIndexer, startIndexing } from '../support/simulated-dag.ts';

vi.setConfig({ testTimeout: 240_000 });

const WRITE = 'bootstrap: UTXOs';
const CATCH_UP = 'batch';
const SMALL_BATCHES = { batchTransactions: '20' };

/** Moves the pruning point above the whole index. */
function pruneEverything({ simulatedDag }: Harness): string {
  return pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink).hash;
}

/**
 * Fails the step where the indexer waits: it drops its prefetched pages and asks the node again
 * from the checkpoint.
 */
async function failAt(harness: Harness, step: string): Promise<void> {
  await endWaitingSession(harness, step);
  await release(harness, step);
}

/** Creates a pruned node and an index that waits at a step. */
async function setHeldHarness(name: string, step: string): Promise<Harness> {
  const harness = await createPruningHarness(name);
  pruneAbove(harness.simulatedDag, 80);
  harness.simulatedDag.mine(60);
  await prepareSteps(harness);
  await holdAt(harness, step);
  return harness;
}

/** Expects one bootstrap block, the node's pruning point, and the rows of a fresh index. */
async function expectBootstrappedAt(harness: Harness, pruningPoint: string): Promise<void> {
  const { pool } = harness.database;
  expect(harness.simulatedDag.node.pruningPoint).toBe(pruningPoint);
  expect((await bootstrapsOf(pool)).map(({ chainIndex, hash }) => ({ chainIndex, hash }))).toEqual([
    { chainIndex: 0, hash: pruningPoint },
  ]);
  expect(await gapsOf(pool)).toEqual([]);
  await expectRightFromBootstrap(harness);
}

for (const step of [WRITE, CATCH_UP]) {
  test.each(['stop', 'record'])(
    `it bootstraps again when the pruning point moves, ${step === WRITE ? 'during the write' : 'in the catch-up'}, with ON_GAP=%s`,
    async (onGap) => {
      const harness = await setHeldHarness(`moves: ${step}`, step);
      const { simulatedDag, database, node } = harness;
      const indexer = startIndexing(simulatedDag, database.url, { ...SMALL_BATCHES, ON_GAP: onGap });
      await untilOneWaits(harness, step);
      const pruningPoint = pruneEverything(harness);
      await (step === WRITE ? release(harness, step) : failAt(harness, step));
      await atRest(database, node, indexer);
      await indexer.stop();
      await expectBootstrappedAt(harness, pruningPoint);
    },
  );
}

test('an index in its first catch-up is bootstrapped again each time that the pruning point moves', async () => {
  const harness = await setHeldHarness('moves twice', CATCH_UP);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url, SMALL_BATCHES);
  await untilOneWaits(harness, CATCH_UP);
  pruneEverything(harness);
  await failAt(harness, CATCH_UP);
  await holdAt(harness, WRITE);
  await untilOneWaits(harness, WRITE);
  const pruningPoint = pruneEverything(harness);
  await release(harness, WRITE);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectBootstrappedAt(harness, pruningPoint);
});

test('an index survives kill -9 in the middle of the discard and before the next bootstrap', async () => {
  const harness = await setHeldHarness('killed', CATCH_UP);
  const { simulatedDag, database, node } = harness;
  const start = (): Program => {
    const urls = { nodeUrl: simulatedDag.server.url, databaseUrl: database.url };
    const program = startIndexerWithSmallBatches(urls, {
      NODE_P2P_URL: simulatedDag.p2p.url,
      FINALITY_DEPTH: '1000',
    });
    onTestEnd(() => program.kill());
    return program;
  };
  let program = start();
  await untilOneWaits(harness, CATCH_UP);
  const before = await visibleRows(database.pool);
  expect(before).toMatchObject({ checkpoint: 1, bootstrap_blocks: 1 });
  const pruningPoint = pruneEverything(harness);

  // A reader of the last truncated table blocks the discard in its middle.
  const reader = await database.pool.connect();
  onTestEnd(async () => reader.release(true));
  await reader.query('begin; lock table pending_tag_flags in access share mode');
  await failAt(harness, CATCH_UP);
  await expect
    .poll(
      async () => {
        const { rows } = await database.pool.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'truncate checkpoint%'",
        );
        return rows.length;
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0);
  await program.kill();
  await reader.query('commit');
  expect(await visibleRows(database.pool)).toMatchObject({ checkpoint: 1, bootstrap_blocks: 1 });

  simulatedDag.p2pFaults.plan = () => ({ kind: 'silent' });
  program = start();
  await expect
    .poll(() => visibleRows(database.pool), { timeout: 60_000 })
    .toEqual({ meta: 1, template_names: 113, template_sources: 1 });
  await program.kill();
  expect(await visibleRows(database.pool)).toEqual({ meta: 1, template_names: 113, template_sources: 1 });

  simulatedDag.p2pFaults.plan = undefined;
  program = start();
  await Promise.race([
    untilAtRest(database.pool, node),
    program.exited.then((code) => {
      throw new Error(`the indexer ended with ${code}:\n${program.output()}`);
    }),
  ]);
  await program.stop();
  await expectBootstrappedAt(harness, pruningPoint);
});

test('the indexer keeps an index whose first catch-up is finished, and stops', async () => {
  const harness = await createPruningHarness('no longer newborn');
  pruneAbove(harness.simulatedDag, 60);
  await followToTheTip(harness);
  pruneEverything(harness);
  await expectStopsAndKeeps(harness, startIndexing(harness.simulatedDag, harness.database.url));
});

test('the indexer keeps history since genesis, which no pruned node has, and stops', async () => {
  const harness = await createPruningHarness('since genesis');
  harness.simulatedDag.mine(120);
  await prepareSteps(harness);
  await holdAt(harness, CATCH_UP);
  const indexer = startIndexing(harness.simulatedDag, harness.database.url, SMALL_BATCHES);
  await untilOneWaits(harness, CATCH_UP);
  pruneEverything(harness);
  await failAt(harness, CATCH_UP);
  await expectStopsAndKeeps(harness, indexer);
});

async function expectStopsAndKeeps({ database }: Harness, indexer: RunningIndexer): Promise<void> {
  await expect(indexer.ended).rejects.toThrow(/no longer knows block .* ON_GAP=record/);
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toMatchObject({ checkpoint: 1, bootstrap_blocks: 1 });
  expect(await gapsOf(database.pool)).toEqual([]);
}

/**
 * Returns depths with which the node moves its pruning point once its sink is higher by this blue
 * score.
 */
function depthsForMoveIn({ simulatedDag }: Harness, blueScores: (near: bigint) => bigint): Record<string, string> {
  const { dag, pruningPoint } = simulatedDag.node;
  const finalityDepth = dag.get(pruningPoint).header.blueScore + 1n;
  const pruningDepth = dag.sink.header.blueScore + blueScores(finalityDepth / 7n) - finalityDepth;
  expect(pruningDepth).toBeGreaterThan(0n);
  return { FINALITY_DEPTH: String(finalityDepth), PRUNING_DEPTH: String(pruningDepth) };
}

const requestsOf = ({ simulatedDag }: Harness): number =>
  simulatedDag.p2p.received.filter((name) => name === 'requestPruningPointUtxoSet').length;

async function setHarnessBeforeMove(name: string): Promise<{ harness: Harness; pruningPoint: string }> {
  const harness = await createPruningHarness(name);
  const { hash } = pruneAbove(harness.simulatedDag, 80);
  harness.simulatedDag.mine(60);
  return { harness, pruningPoint: hash };
}

test('the indexer waits if the pruning point is about to move, and loads the set of the next one', async () => {
  const { harness } = await setHarnessBeforeMove('near move');
  const { simulatedDag, database, node } = harness;
  const depths = depthsForMoveIn(harness, (near) => near / 2n);
  const indexer = startIndexing(simulatedDag, database.url, depths);
  for (let step = 0; step < 4; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    simulatedDag.mine(1);
  }
  expect(requestsOf(harness)).toBe(0);
  const pruningPoint = pruneEverything(harness);
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(requestsOf(harness)).toBe(1);
  await expectBootstrappedAt(harness, pruningPoint);
});

test.each([
  ['is far away', (near: bigint): bigint => near + 1n],
  ['should have come long ago', (near: bigint): bigint => -near - 1n],
])('the indexer does not wait for a move of the pruning point that %s', async (_, blueScores) => {
  const { harness, pruningPoint } = await setHarnessBeforeMove('far move');
  await followToTheTip(harness, depthsForMoveIn(harness, blueScores));
  await expectBootstrappedAt(harness, pruningPoint);
});

test('the indexer stops waiting for a move of the pruning point if the sink stands still', async () => {
  const { harness, pruningPoint } = await setHarnessBeforeMove('standstill');
  const { simulatedDag, database, node } = harness;
  const depths = depthsForMoveIn(harness, (near) => near / 2n);
  const indexer = startIndexing(simulatedDag, database.url, depths, { standstillMs: 300 });
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectBootstrappedAt(harness, pruningPoint);
});

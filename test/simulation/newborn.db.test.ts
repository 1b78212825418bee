/**
 * An index in the catch-up from its only bootstrap has nothing to lose: when the node prunes what comes after its checkpoint, it is
 * bootstrapped again at the new pruning point, whatever ON_GAP says, and a crash at any moment of that is harmless (invariant 11).
 */
import { FatalError } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { endWaiting, holdAt, letGo, preparePlaces, untilOneWaits } from '../database-faults/held-places.ts';
import { untilAtRest } from '../node/at-rest.ts';
import { type Program, startIndexer } from '../node/programs.ts';
import { atEnd, atRest, type Stage } from './stage.ts';
import {
  expectRightFromItsStart,
  followToTheTip,
  gapsOf,
  pruneAbove,
  setStageThatPrunes,
  startsOf,
  visibleRows,
} from './starts-stage.ts';
import { type RunningIndexer, startIndexing } from './world.ts';

/** Several times what the longest takes. */
vi.setConfig({ testTimeout: 240_000 });

const WRITE = 'start: its coins';
const CATCH_UP = 'a batch';
const SMALL_BATCHES = { BATCH_TRANSACTIONS: '20' };

/** The pruning point moves on, above everything that the index has. */
function pruneEverything({ world }: Stage): string {
  return pruneAbove(world, 20, world.node.dag.sink).hash;
}

/** The indexer has several pages ahead, so what it does at the place is failed: it asks the node from the checkpoint on. */
async function failAt(stage: Stage, place: string): Promise<void> {
  await endWaiting(stage, place);
  await letGo(stage, place);
}

/** A network that has pruned, and an index of it that waits at the place. */
async function setHeldStage(name: string, place: string): Promise<Stage> {
  const stage = await setStageThatPrunes(name);
  pruneAbove(stage.world, 80);
  stage.world.mine(60);
  await preparePlaces(stage);
  await holdAt(stage, place);
  return stage;
}

/** The only start is the node's pruning point, and the index is what a fresh one is. */
async function expectBootstrappedAt(stage: Stage, pruningPoint: string): Promise<void> {
  const { pool } = stage.database;
  expect(stage.world.node.pruningPoint).toBe(pruningPoint);
  expect((await startsOf(pool)).map(({ chainIndex, hash }) => ({ chainIndex, hash }))).toEqual([
    { chainIndex: 0, hash: pruningPoint },
  ]);
  expect(await gapsOf(pool)).toEqual([]);
  await expectRightFromItsStart(stage);
}

for (const place of [WRITE, CATCH_UP]) {
  test.each(['stop', 'record'])(
    `it bootstraps again when the pruning point moves, ${place === WRITE ? 'during the write' : 'in the catch-up'}, with ON_GAP=%s`,
    async (onGap) => {
      const stage = await setHeldStage(`moves: ${place}`, place);
      const { world, database, node } = stage;
      const indexer = startIndexing(world, database.url, { ...SMALL_BATCHES, ON_GAP: onGap });
      await untilOneWaits(stage, place);
      const pruningPoint = pruneEverything(stage);
      await (place === WRITE ? letGo(stage, place) : failAt(stage, place));
      await atRest(database, node, indexer);
      await indexer.stop();
      await expectBootstrappedAt(stage, pruningPoint);
    },
  );
}

test('it bootstraps again each time that the pruning point moves', async () => {
  const stage = await setHeldStage('moves twice', CATCH_UP);
  const { world, database, node } = stage;
  const indexer = startIndexing(world, database.url, SMALL_BATCHES);
  await untilOneWaits(stage, CATCH_UP);
  pruneEverything(stage);
  await failAt(stage, CATCH_UP);
  await holdAt(stage, WRITE);
  await untilOneWaits(stage, WRITE);
  const pruningPoint = pruneEverything(stage);
  await letGo(stage, WRITE);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectBootstrappedAt(stage, pruningPoint);
});

test('it survives kill -9 in the middle of the discard and before the next bootstrap', async () => {
  const stage = await setHeldStage('killed', CATCH_UP);
  const { world, database, node } = stage;
  const start = (): Program => {
    const urls = { nodeUrl: world.server.url, databaseUrl: database.url };
    // So that pauses are short.
    const program = startIndexer(urls, { NODE_P2P_URL: world.p2p.url, FINALITY_DEPTH: '1000', ...SMALL_BATCHES });
    atEnd(() => program.kill());
    return program;
  };
  let program = start();
  await untilOneWaits(stage, CATCH_UP);
  const before = await visibleRows(database.pool);
  expect(before).toMatchObject({ checkpoint: 1, starts: 1 });
  const pruningPoint = pruneEverything(stage);

  // A reader of the last table that is emptied holds the discard up in its middle.
  const reader = await database.pool.connect();
  atEnd(async () => reader.release(true));
  await reader.query('begin; lock table tag_marks in access share mode');
  await failAt(stage, CATCH_UP);
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'truncate checkpoint%'",
      );
      return rows.length;
    })
    .toBeGreaterThan(0);
  await program.kill();
  await reader.query('commit');
  expect(await visibleRows(database.pool)).toMatchObject({ checkpoint: 1, starts: 1 });

  world.p2pFaults.plan = () => ({ kind: 'silent' });
  program = start();
  await expect.poll(() => visibleRows(database.pool), { timeout: 60_000 }).toEqual({ meta: 1 });
  await program.kill();
  expect(await visibleRows(database.pool)).toEqual({ meta: 1 });

  world.p2pFaults.plan = undefined;
  program = start();
  await Promise.race([
    untilAtRest(database.pool, node),
    program.exited.then((code) => {
      throw new Error(`the indexer ended with ${code}:\n${program.output()}`);
    }),
  ]);
  await program.stop();
  await expectBootstrappedAt(stage, pruningPoint);
});

test('it keeps an index whose first catch-up is over, and stops', async () => {
  const stage = await setStageThatPrunes('no longer newborn');
  pruneAbove(stage.world, 60);
  await followToTheTip(stage);
  pruneEverything(stage);
  await expectStopsAndKeeps(stage, startIndexing(stage.world, stage.database.url));
});

test('it keeps history since genesis, which no pruned node has, and stops', async () => {
  const stage = await setStageThatPrunes('since genesis');
  stage.world.mine(120);
  await preparePlaces(stage);
  await holdAt(stage, CATCH_UP);
  const indexer = startIndexing(stage.world, stage.database.url, SMALL_BATCHES);
  await untilOneWaits(stage, CATCH_UP);
  pruneEverything(stage);
  await failAt(stage, CATCH_UP);
  await expectStopsAndKeeps(stage, indexer);
});

async function expectStopsAndKeeps({ database }: Stage, indexer: RunningIndexer): Promise<void> {
  await expect(indexer.ended).rejects.toThrow(/does not know block .* ON_GAP=record/);
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await visibleRows(database.pool)).toMatchObject({ checkpoint: 1, starts: 1 });
  expect(await gapsOf(database.pool)).toEqual([]);
}

/** Depths with which the node moves its pruning point when its sink is so many blue scores higher */
function depthsForMoveIn({ world }: Stage, blueScores: (near: bigint) => bigint): Record<string, string> {
  const { dag, pruningPoint } = world.node;
  const finalityDepth = dag.get(pruningPoint).header.blueScore + 1n;
  const pruningDepth = dag.sink.header.blueScore + blueScores(finalityDepth / 7n) - finalityDepth;
  expect(pruningDepth).toBeGreaterThan(0n);
  return { FINALITY_DEPTH: String(finalityDepth), PRUNING_DEPTH: String(pruningDepth) };
}

const requestsOf = ({ world }: Stage): number =>
  world.p2p.received.filter((name) => name === 'requestPruningPointUtxoSet').length;

async function setStageBeforeMove(name: string): Promise<{ stage: Stage; pruningPoint: string }> {
  const stage = await setStageThatPrunes(name);
  const { hash } = pruneAbove(stage.world, 80);
  stage.world.mine(60);
  return { stage, pruningPoint: hash };
}

test('it waits for a pruning point that is about to move, and loads the set of the next', async () => {
  const { stage } = await setStageBeforeMove('near move');
  const { world, database, node } = stage;
  const indexer = startIndexing(
    world,
    database.url,
    depthsForMoveIn(stage, (near) => near / 2n),
  );
  for (let step = 0; step < 4; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    world.mine(1);
  }
  expect(requestsOf(stage)).toBe(0);
  const pruningPoint = pruneEverything(stage);
  await atRest(database, node, indexer);
  await indexer.stop();
  expect(requestsOf(stage)).toBe(1);
  await expectBootstrappedAt(stage, pruningPoint);
});

test.each([
  ['is far away', (near: bigint): bigint => near + 1n],
  ['should have come long ago', (near: bigint): bigint => -near - 1n],
])('it does not wait for a move that %s', async (_, blueScores) => {
  const { stage, pruningPoint } = await setStageBeforeMove('far move');
  await followToTheTip(stage, depthsForMoveIn(stage, blueScores));
  await expectBootstrappedAt(stage, pruningPoint);
});

test('it does not wait for ever where the sink stands still', async () => {
  const { stage, pruningPoint } = await setStageBeforeMove('standstill');
  const { world, database, node } = stage;
  const depths = depthsForMoveIn(stage, (near) => near / 2n);
  const indexer = startIndexing(world, database.url, depths, { standstillMs: 300 });
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectBootstrappedAt(stage, pruningPoint);
});

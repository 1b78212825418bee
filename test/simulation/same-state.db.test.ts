/** Invariant 5 and what it needs: an index that went through anything shows the same as a fresh one of the final chain. */
import { randomInt } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { afterEach, expect, test } from 'vitest';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { checkInvariant4 } from '../invariants/balances.ts';
import { checkInvariant7 } from '../invariants/completeness.ts';
import { checkInvariant8 } from '../invariants/hashes.ts';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { untilAtRest } from '../node/at-rest.ts';
import { type RunningIndexer, startIndexing, World } from './world.ts';

const SEED = process.env['SEED'] ?? String(randomInt(2 ** 32));

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

interface Stage {
  world: World;
  node: NodeClient;
  database: TestDatabase;
}

async function setStage(name: string): Promise<Stage> {
  console.log(`SEED=${SEED} (${name})`);
  const world = await World.start(`${SEED} ${name}`);
  cleanUp.push(async () => world.stop());
  const node = new NodeClient({ url: world.server.url });
  cleanUp.push(() => node.close());
  return { world, node, database: await freshDatabase() };
}

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  return database;
}

/** Indexes the node from nothing, in one go. */
async function indexAfresh({ world, node }: Stage): Promise<TestDatabase> {
  const database = await freshDatabase();
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  return database;
}

async function atRest(database: TestDatabase, node: NodeClient, indexer: RunningIndexer): Promise<void> {
  await Promise.race([untilAtRest(database.pool, node), indexer.ended]);
}

async function expectRight(stage: Stage): Promise<void> {
  const { database, node } = stage;
  expect(await checkInvariant3(database.pool, node)).toEqual([]);
  expect(await checkInvariant4(database.pool)).toEqual([]);
  expect(await checkInvariant7(database.pool)).toEqual([]);
  expect(await checkInvariant8(database.pool)).toEqual([]);
  const fresh = await indexAfresh(stage);
  expect(differencesOf(await takeSnapshot(fresh.pool), await takeSnapshot(database.pool))).toEqual([]);
}

test('followed step by step through reorgs', async () => {
  const stage = await setStage('steps');
  const { world, database, node } = stage;
  const indexer = startIndexing(world, database.url);
  for (let step = 0; step < 60; step += 1) {
    world.mine(8);
    if (step % 3 === 0) await atRest(database, node, indexer);
    else await sleep(10);
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(stage);
});

test('caught up with a memory that forgets', async () => {
  const stage = await setStage('forgetful');
  const { world, database, node } = stage;
  world.mine(300);
  const indexer = startIndexing(world, database.url, { MEMORY_TRANSACTIONS: '100', BATCH_TRANSACTIONS: '50' });
  await atRest(database, node, indexer);
  for (let step = 0; step < 20; step += 1) {
    world.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(stage);
});

test('stopped and started again at any moment, also within the first catch-up', async () => {
  const stage = await setStage('stops');
  const { world, database, node } = stage;
  world.mine(300);
  for (let start = 0; start < 15; start += 1) {
    const indexer = startIndexing(world, database.url, { BATCH_TRANSACTIONS: '60' });
    await sleep(20 + 15 * start);
    world.mine(10);
    await indexer.stop();
    world.mine(10);
  }
  const indexer = startIndexing(world, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(stage);
});

test('connections to the database cut at any moment', async () => {
  const stage = await setStage('cut connections');
  const { world, database, node } = stage;
  world.mine(100);
  const indexer = startIndexing(world, database.url, { BATCH_TRANSACTIONS: '60' });
  for (let cut = 0; cut < 12; cut += 1) {
    world.mine(15);
    await sleep(15 * cut);
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'indexer under test'`,
    );
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(stage);
});

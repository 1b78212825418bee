/**
 * The checks on indexes that do not begin at genesis: what is right passes them, and whatever is changed by hand in what a start or a gap
 * means is found. Each change is taken back, so that one index at genesis, with starts made of its rows, serves all.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untilAtRest } from '../node/at-rest.ts';
import { startAfterGap, startAgainAt, startAt } from '../simulation/start-at.ts';
import { startIndexing, World } from '../simulation/world.ts';
import { checkInvariant3 } from './acceptance.ts';
import { checkInvariant4 } from './balances.ts';
import { checkInvariant7 } from './completeness.ts';
import { checkInvariant8, checkUtxoCommitment } from './hashes.ts';
import { differencesOf, type Snapshot, stateOf, takeSnapshot } from './snapshot.ts';

const ROUNDS = 250;

let world: World;
let node: NodeClient;
let database: TestDatabase;
let client: PoolClient;
let atGenesis: Snapshot;

beforeAll(async () => {
  world = await World.start('starts', undefined, { commitsToUtxos: true });
  world.mine(ROUNDS);
  node = new NodeClient({ url: world.server.url });
  database = await createTestDatabase();
  const indexer = startIndexing(world, database.url);
  await Promise.race([untilAtRest(database.pool, node), indexer.ended]);
  await indexer.stop();
  atGenesis = await takeSnapshot(database.pool);
  client = await database.pool.connect();
});

afterAll(async () => {
  client?.release();
  await database?.drop();
  await node?.close();
  world?.stop();
});

const situations: Record<string, () => Promise<void>> = {
  'begun at a block': () => startAt(client, 60),
  'begun at the block after genesis': () => startAt(client, 1),
  'gone on after a gap': () => startAfterGap(client, 60, 90),
  'gone on after a gap that ends at the next block': () => startAfterGap(client, 60, 61),
  'begun at a block and gone on after a gap': async () => {
    await startAt(client, 40);
    await startAfterGap(client, 30, 60);
  },
  'gone on after two gaps': async () => {
    await startAfterGap(client, 30, 50);
    await startAfterGap(client, 50, 80);
  },
  'begun again on the chain': () => startAgainAt(client, 80),
  'begun at a block, and again on the chain': async () => {
    await startAt(client, 40);
    await startAgainAt(client, 30);
  },
};

describe.each(Object.entries(situations))('%s', (_, make) => {
  beforeAll(async () => {
    await client.query('begin');
    await make();
  });
  afterAll(() => client.query('rollback'));

  test('every invariant holds', async () => {
    expect(await checkInvariant3(client, node)).toEqual([]);
    expect(await checkInvariant4(client)).toEqual([]);
    expect(await checkInvariant7(client)).toEqual([]);
    expect(await checkInvariant8(client)).toEqual([]);
    expect(await checkUtxoCommitment(client)).toEqual([]);
  });

  test('coins and balances are those of an index that began at genesis', async () => {
    const snapshot = await takeSnapshot(client);
    expect(differencesOf(stateOf(atGenesis), stateOf(snapshot))).toEqual([]);
    expect(differencesOf(atGenesis, snapshot)).not.toEqual([]);
  });
});

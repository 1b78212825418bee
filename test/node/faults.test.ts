/** What goes wrong around an indexer: the node starts anew, the database cuts its connections, somebody starts it twice or on the wrong node. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { snapshotOfFreshIndex, untilAtRest } from '../support/harness.ts';
import { findKaspad, Kaspad, type KaspadOptions } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { type Program, startIndexer } from '../support/programs.ts';

const WARM_UP_BLOCKS = 1100;
const PAYMENTS_PER_BLOCK = 8;
const CUTS = 10;
/** Exit code of what an operator has to put right. */
const FATAL = 1;

describe.skipIf(findKaspad() === undefined)('an indexer in trouble', () => {
  let kaspad: Kaspad;
  let node: NodeClient;
  let load: Load;
  let database: TestDatabase;
  let indexer: Program;

  beforeAll(async () => {
    kaspad = await Kaspad.start();
    node = new NodeClient({ url: kaspad.url, streams: 2, maxPauseMs: 200 });
    await node.waitUntilConnected();
    load = await Load.begin(node, { seed: 'faults', paymentsPerBlock: PAYMENTS_PER_BLOCK });
    await load.warmUp(WARM_UP_BLOCKS);
    await load.run({ blocks: WARM_UP_BLOCKS + 100 });
    database = await createTestDatabase();
    indexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url });
    await untilAtRest(database.pool, node, indexer);
  });

  afterAll(async () => {
    await indexer?.stop();
    await database?.drop();
    await node?.close();
    await kaspad?.stop();
  });

  test('the node starts anew in the middle of the load, and the indexer goes on', async () => {
    await load.run({ blocks: load.blocks + 50 });
    await kaspad.halt();
    await kaspad.run();
    await node.waitUntilConnected({ signal: AbortSignal.timeout(10_000) });
    await load.run({ blocks: load.blocks + 50 });
    await expectSameAsFreshIndex();
  });

  test(`the database cuts the connection ${CUTS} times in the middle of a batch, and the indexer goes on`, async () => {
    const done = new AbortController();
    const loading = (async () => {
      while (!done.signal.aborted) await load.round();
    })();
    for (let cuts = 0; cuts < CUTS; cuts += await cutWhileWriting());
    done.abort();
    await loading;
    await expectSameAsFreshIndex();
  });

  test('of two indexers on one database the second stops and says why', async () => {
    const secondIndexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url });
    await load.run({ blocks: load.blocks + 20 });
    expect(await secondIndexer.exited, secondIndexer.output()).toBe(FATAL);
    expect(secondIndexer.output()).toMatch(/another indexer is writing to this database/i);
    await load.run({ blocks: load.blocks + 20 });
    await expectSameAsFreshIndex();
  });

  test('a node of another network is refused', async () => {
    await withNode({ network: 'devnet' }, async (url) => {
      const lost = startIndexer({ nodeUrl: url, databaseUrl: database.url });
      // The lock of the one that is at work comes before any request of networks.
      await indexer.stop();
      expect(await lost.exited, lost.output()).toBe(FATAL);
      expect(lost.output()).toMatch(/simnet.*devnet/);
    });
  });

  test('a node of another network than NETWORK asks for is refused', async () => {
    const lost = startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url }, { NETWORK: 'mainnet' });
    expect(await lost.exited, lost.output()).toBe(FATAL);
    expect(lost.output()).toMatch(/simnet.*mainnet/);
  });

  /** Ends the connection of a transaction that has written: what becomes of a commit under way the indexer cannot know. */
  async function cutWhileWriting(): Promise<number> {
    await sleep(2);
    const { rowCount } = await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'kasgres indexer' and backend_xid is not null`,
    );
    return rowCount ?? 0;
  }

  async function expectSameAsFreshIndex(): Promise<void> {
    await untilAtRest(database.pool, node, indexer);
    const expected = await snapshotOfFreshIndex(kaspad.url, node);
    expect(differencesOf(expected, await takeSnapshot(database.pool))).toEqual([]);
  }
});

async function withNode(options: KaspadOptions, work: (url: string) => Promise<void>): Promise<void> {
  const other = await Kaspad.start(options);
  try {
    await work(other.url);
  } finally {
    await other.stop();
  }
}

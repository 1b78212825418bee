/**
 * Faults around an indexer: its node restarts, its database connections are cut, it is started
 * twice or with the wrong node.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { snapshotOfFreshIndex, untilAtRest } from '../support/harness.ts';
import { findKaspad, Kaspad, type KaspadOptions } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { type Program, startIndexer } from '../support/programs.ts';

const WARM_UP_BLOCKS = 1100;
const PAYMENTS_PER_BLOCK = 8;
const CUTS = 10;
/** The exit code for problems that an operator must solve. */
const FATAL = 1;

describe.skipIf(findKaspad() === undefined)('an indexer', () => {
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

  test('resumes after a restart of its node under load', async () => {
    await load.run({ blocks: load.blocks + 50 });
    await kaspad.halt();
    await kaspad.run();
    await node.waitUntilConnected({ signal: AbortSignal.timeout(10_000) });
    await load.run({ blocks: load.blocks + 50 });
    await expectSameAsFreshIndex();
  });

  test(`resumes after ${CUTS} cuts of its database connection in the middle of a batch`, async () => {
    const done = new AbortController();
    const loading = (async () => {
      while (!done.signal.aborted) await load.round();
    })();
    for (let cuts = 0; cuts < CUTS; cuts += await cutWhileWriting());
    done.abort();
    await loading;
    await expectSameAsFreshIndex();
  });

  test('stops with an explanation if another indexer writes to its database', async () => {
    const secondIndexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url });
    await load.run({ blocks: load.blocks + 20 });
    expect(await secondIndexer.exited, secondIndexer.output()).toBe(FATAL);
    expect(secondIndexer.output()).toMatch(/another indexer is writing to this database/i);
    await load.run({ blocks: load.blocks + 20 });
    await expectSameAsFreshIndex();
  });

  test('refuses a node of another network than its database', async () => {
    await withNode({ network: 'devnet' }, async (url) => {
      const lost = startIndexer({ nodeUrl: url, databaseUrl: database.url });
      // The lock of the running indexer is checked before the network.
      await indexer.stop();
      expect(await lost.exited, lost.output()).toBe(FATAL);
      expect(lost.output()).toMatch(/simnet.*devnet/);
    });
  });

  test('refuses a node of another network than NETWORK', async () => {
    const lost = startIndexer({ nodeUrl: kaspad.url, databaseUrl: database.url }, { NETWORK: 'mainnet' });
    expect(await lost.exited, lost.output()).toBe(FATAL);
    expect(lost.output()).toMatch(/simnet.*mainnet/);
  });

  /**
   * Ends the connection of a transaction that has written: the indexer cannot know the outcome of
   * its commit.
   */
  async function cutWhileWriting(): Promise<number> {
    await sleep(2);
    const { rowCount } = await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'kasgres indexer'
         and backend_xid is not null`,
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

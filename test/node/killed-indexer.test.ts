/**
 * SIGKILL of the indexer at random moments: after a restart, the database equals a fresh index of
 * the node (invariant 5).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { expectInvariants, snapshotOfFreshIndex, untilAtRest } from '../support/harness.ts';
import { findKaspad, Kaspad } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { Random } from '@kasgres/devnet';
import { checkUtxoCommitment } from '@kasgres/verification';
import { SecondNode } from './load/second-node.ts';
import { type Program, startIndexer } from '../support/programs.ts';

const seed = process.env['CRASH_SEED'] ?? String(Date.now());
const WARM_UP_BLOCKS = 1100;
const BLOCKS = 1400;
const PAYMENTS_PER_BLOCK = 8;

const KILLS_IN_FIRST_CATCH_UP = 6;
const KILLS_AT_THE_TIP = 14;
/** The duration of the first catch-up, with the start of the process. */
const FIRST_CATCH_UP_MS = 2500;
const LOAD_MS = 2000;
const MOST_DEPTH = 40;

describe.skipIf(findKaspad() === undefined)('an indexer equals a fresh index after SIGKILL', () => {
  const random = new Random(`crash ${seed}`);
  let kaspad: Kaspad;
  let node: NodeClient;
  let load: Load;
  let second: SecondNode;

  beforeAll(async () => {
    process.stdout.write(`The times of the kills come from CRASH_SEED=${seed}.\n`);
    kaspad = await Kaspad.start();
    node = new NodeClient({ url: kaspad.url, streams: 2 });
    await node.waitUntilConnected();
    load = await Load.begin(node, { seed, paymentsPerBlock: PAYMENTS_PER_BLOCK });
    await load.warmUp(WARM_UP_BLOCKS);
    await load.run({ blocks: BLOCKS });
    second = await SecondNode.start(node, load);
  });

  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      const refusals = [...kaspad.refusals, '-- and the second node:', ...second.refusals];
      process.stdout.write(`Blocks that the node refused last:\n${refusals.join('\n')}\n`);
    });
  });

  afterAll(async () => {
    await second?.stop();
    await node?.close();
    await kaspad?.stop();
  });

  test(`${KILLS_IN_FIRST_CATCH_UP} times in the first catch-up`, async () => {
    const expected = await snapshotOfFreshIndex(kaspad.url, node);
    for (let kill = 0; kill < KILLS_IN_FIRST_CATCH_UP; kill += 1) {
      await withDatabase(async ({ url, pool }) => {
        const afterMs = random.below(FIRST_CATCH_UP_MS);
        await killAfter(startIndexer({ nodeUrl: kaspad.url, databaseUrl: url }), afterMs);
        const indexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: url });
        try {
          await untilAtRest(pool, node, indexer);
          expect(differencesOf(expected, await takeSnapshot(pool)), `killed after ${afterMs} ms`).toEqual([]);
        } finally {
          await indexer.stop();
        }
      });
    }
  });

  test(`${KILLS_AT_THE_TIP} times under load and in reorganisations`, async () => {
    await withDatabase(async ({ url, pool }) => {
      let indexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: url });
      try {
        await untilAtRest(pool, node, indexer);
        for (let kill = 0; kill < KILLS_AT_THE_TIP; kill += 1) {
          const depth = random.chance(0.5) ? 1 + random.below(MOST_DEPTH) : 0;
          const afterMs = random.below(LOAD_MS);
          await Promise.all([killAfter(indexer, afterMs), createHistory(depth)]);
          indexer = startIndexer({ nodeUrl: kaspad.url, databaseUrl: url });
          await untilAtRest(pool, node, indexer);
          const expected = await snapshotOfFreshIndex(kaspad.url, node);
          const description = `kill ${kill}, after ${afterMs} ms, reorganisation of depth ${depth}`;
          expect(differencesOf(expected, await takeSnapshot(pool)), description).toEqual([]);
        }
        await expectInvariants(pool, node);
        expect(await checkUtxoCommitment(pool, 'utxos')).toEqual([]);
      } finally {
        await indexer.stop();
      }
    });
  });

  /** Loads the node for a while, with a reorg of this depth in the middle unless it is 0. */
  async function createHistory(depth: number): Promise<void> {
    const half = Date.now() + LOAD_MS / 2;
    while (Date.now() < half) await load.round();
    if (depth > 0) await second.reorganise(depth);
    const end = Date.now() + LOAD_MS / 2;
    while (Date.now() < end) await load.round();
  }
});

async function killAfter(indexer: Program, milliseconds: number): Promise<void> {
  await sleep(milliseconds);
  await indexer.kill();
}

async function withDatabase(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

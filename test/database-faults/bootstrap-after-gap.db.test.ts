/**
 * The indexer or its database fails during the bootstrap after a gap, each time at a later step. At
 * every moment the state is the old one without the gap or the new one with it, and in the end the
 * index equals an undisturbed one (invariants 1, 4 and 5).
 */
import { type Connection, connect, inTransaction, isDatabaseUnavailable } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { checkInvariant4, checkUtxoCommitment } from '@kasgres/verification';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { type Program, startIndexerWithSmallBatches } from '../support/programs.ts';
import { atRest } from '../support/harness.ts';
import { gapsOf, loadedUtxos, pruneAbove, bootstrapsOf } from '../simulation/bootstraps-harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { FAULTS, failAtEach, holdAt, release, prepareSteps, removeSteps, untilOneWaits } from './held-steps.ts';
import { emptyDatabase, follow, openHarness } from './harness.ts';

/** In the order of the indexer. */
const STEPS = [
  'bootstrap: truncate loaded UTXOs',
  'bootstrap: piece of the UTXO set',
  'bootstrap: commit of a piece',
  'bootstrap: balances at the previous one',
  'bootstrap: UTXOs',
  'batch',
  'rebuild UTXOs',
  'rebuild balances',
  'rebuild hourly changes',
  'bootstrap: gap',
  'bootstrap: commit',
  // The gap is committed before.
  'commit of a batch',
  'batch',
];
const VARIABLES = { ON_GAP: 'record', batchTransactions: '40' };

// Silence is noticed late at each step, and bootstrap.db.test.ts tests it at steps of the same
// kind.
const NOTICED_AT_ONCE = FAULTS.filter(([fault]) => fault !== 'connections fall silent');

const TIMEOUT_MS = 300_000;

const harness = await openHarness('gap', { commitsToUtxos: true });
const { simulatedDag, node, postgres } = harness;
pruneAbove(simulatedDag, 60);
await emptyDatabase(harness);
const first = startIndexing(simulatedDag, postgres.url);
await atRest(harness.database, node, first);
await first.stop();
await copyDatabase('kasgres', 'before');
pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
simulatedDag.mine(60, 2);
await copyDatabase('before', 'undisturbed');
const undisturbed = connectTo('undisturbed');
const other = startIndexing(simulatedDag, urlOf('undisturbed'), VARIABLES);
await atRest(undisturbed, node, other);
await other.stop();
const expected = await takeSnapshot(undisturbed.pool);
await undisturbed.close();

beforeEach(async () => {
  await copyDatabase('before', 'kasgres');
  await prepareSteps(harness);
  await holdAt(harness, STEPS[0] ?? '');
});
afterAll(() => harness.close());

test.each(NOTICED_AT_ONCE)(
  'a bootstrap after a gap recovers when %s at each step',
  async (_, fail) => {
    const indexer = follow(harness, VARIABLES);
    await failAtEach(harness, indexer, STEPS, async (where, step) => {
      await fail(where, step);
      await expectOldOrNew();
    });
    await atRest(harness.database, node, indexer);
    await expectUndisturbed();
  },
  TIMEOUT_MS,
);

test(
  'a bootstrap after a gap recovers when the process is killed at each step',
  async () => {
    let program: Program | undefined;
    for (const [number, step] of STEPS.entries()) {
      program = startIndexerWithSmallBatches(
        { nodeUrl: simulatedDag.server.url, databaseUrl: postgres.url },
        { ...VARIABLES, NODE_P2P_URL: simulatedDag.p2p.url },
      );
      await untilOneWaits(harness, step);
      await program.kill();
      await expectOldOrNew();
      // Its session ends once it no longer waits.
      await release(harness, step);
      const next = STEPS[number + 1];
      if (next !== undefined) await holdAt(harness, next);
    }
    await atRest(harness.database, node, follow(harness, VARIABLES));
    await expectUndisturbed();
  },
  TIMEOUT_MS,
);

/** The indexer still waits at the step, so nothing changes meanwhile. */
async function expectOldOrNew(): Promise<void> {
  const { pool } = harness.database;
  for (;;) {
    try {
      const client = await pool.connect();
      const look = async (): Promise<[string[], number, number]> => [
        await checkInvariant4(client),
        (await bootstrapsOf(client)).length,
        (await gapsOf(client)).length,
      ];
      const [faults, starts, gaps] = await inTransaction(client, look, { readsSnapshot: true }).finally(() =>
        client.release(true),
      );
      expect(faults).toEqual([]);
      expect(starts).toBe(gaps + 1);
      return;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(50);
    }
  }
}

async function expectUndisturbed(): Promise<void> {
  await removeSteps(harness);
  const { pool } = harness.database;
  expect(await checkInvariant4(pool)).toEqual([]);
  for (const set of ['bootstrap_utxos', 'utxos'] as const) expect(await checkUtxoCommitment(pool, set)).toEqual([]);
  expect(await loadedUtxos(pool)).toBe(0);
  expect(differencesOf(expected, await takeSnapshot(pool))).toEqual([]);
}

function urlOf(database: string): string {
  const url = new URL(postgres.url);
  url.pathname = `/${database}`;
  return url.toString();
}

function connectTo(database: string): Connection {
  const settings = { statement_timeout: '0', lock_timeout: '0' };
  return connect({ url: urlOf(database), applicationName: 'kasgres test', settings });
}

/**
 * Replaces the database `to` by a copy of `from`, and ends the sessions of both. Files are copied:
 * with `wal_level = minimal`, Postgres 18 does not log the initial pages of unlogged tables when it
 * copies through WAL, so a crash would damage the copy.
 */
async function copyDatabase(from: string, to: string): Promise<void> {
  const server = connectTo('postgres');
  await server.pool.query(`drop database if exists ${to} with (force)`);
  await server.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from]);
  await server.pool.query(`create database ${to} template ${from} strategy file_copy`);
  await server.close();
}

/**
 * Exports while the index begins again after a gap: states belong to the sink in their path,
 * facts are complete, and a row that is accepted on both sides of a gap is in one file.
 */
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import type { TestDatabase } from '@kasgres/database/testing';
import { sleep } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { atRest, type Harness } from '../support/harness.ts';
import {
  acceptable,
  followToTheTip,
  forkBelowFinality,
  pruneAbove,
  createPruningHarness,
  withLowFinality,
} from '../simulation/bootstraps-harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { startExport } from './command.ts';
import { expectedState } from './expected.ts';
import { hasReaders, readWithDuckDb } from './readers/readers.ts';
import { expectWhole, exportTo, freshFolder, readManifest } from './harness.ts';

const RECORD = { ON_GAP: 'record' };
const EXIT_RETRYABLE = 75;

vi.setConfig({ testTimeout: 240_000 });

/** The chain grows by a gap that the index does not know of yet. */
async function indexAndPrune(name: string): Promise<Harness> {
  const harness = await createPruningHarness(name);
  harness.simulatedDag.mine(80);
  await followToTheTip(harness);
  pruneAbove(harness.simulatedDag, 20, harness.simulatedDag.node.dag.sink);
  return harness;
}

/**
 * Each state in the manifest has one snapshot, of the sink there is now, with the rows there are
 * now.
 */
async function expectStatesOfNow(directory: string, { pool }: TestDatabase, names: readonly string[]): Promise<void> {
  const { states } = await readManifest(directory);
  expect(Object.keys(states).sort()).toEqual([...names].sort());
  for (const [name, { columns, snapshots }] of Object.entries(states)) {
    expect(snapshots.length, name).toBe(1);
    const read = await readWithDuckDb(join(directory, name, '*', '*.parquet'), columns, 'snapshot');
    expect(read.length, name).toBeGreaterThan(10);
    expect(read, name).toEqual(await expectedState(pool, { schema: 'kaspa', name, columns }));
  }
}

test.skipIf(!hasReaders)('it never writes a state that the new start emptied under an older sink', async () => {
  const harness = await indexAndPrune('export across a start, states');
  const { database } = harness;
  const directory = await freshFolder();
  const names = ['utxos', 'addresses'];
  // The indexer has no use for this table, so an export that waits for it has its snapshot and
  // holds nothing else up.
  const blocker = await database.pool.connect();
  await blocker.query('begin; lock table tag_sources in access exclusive mode');
  const exporting = exportTo(directory, database, { names: ['tag_sources', ...names], depth: 0n });
  await untilAnExportWaits(database);
  await followToTheTip(harness, RECORD);
  await blocker.query('rollback');
  blocker.release();
  const { lines } = await exporting;
  expect(lines.join('\n')).toContain('the index was bootstrapped again after a gap');
  const manifest = await readManifest(directory);
  expect(manifest.states['tag_sources']?.snapshots.map(({ rows }) => rows)).toEqual([0]);
  delete manifest.states['tag_sources'];
  await exportTo(directory, database, { names, depth: 0n });
  for (const name of names) {
    const { columns, snapshots } = manifest.states[name] ?? { columns: {}, snapshots: [] };
    const expected = await expectedState(database.pool, { schema: 'kaspa', name, columns });
    expect(
      snapshots.map(({ rows, blueScore }) => [rows, String(blueScore)]),
      name,
    ).toEqual([[expected.length, expected[0]?.at(-1)]]);
    expect(expected.length).toBeGreaterThan(10);
  }
});

async function untilAnExportWaits({ pool }: TestDatabase): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
        where datname = current_database() and application_name = 'kasgres export'
          and wait_event_type = 'Lock'`,
    );
    if (rowCount !== 0) return;
    await sleep(20);
  }
}

test.skipIf(!hasReaders)('it exports the whole state of an index that begins again meanwhile', async () => {
  const harness = await indexAndPrune('export across a start, facts');
  const { database } = harness;
  const directory = await freshFolder();
  const [facts, states] = [
    ['blocks', 'transactions', 'network_hours'],
    ['utxos', 'addresses'],
  ];
  const program = startExport(database, [directory, ...facts, ...states, '--depth', '0']);
  // It writes a file a day: the first change of the directory is long before the states.
  const watcher = watch(directory, { recursive: true }, (_, file) => {
    if (file?.startsWith('blocks') === true) program.kill('SIGSTOP');
  });
  const stopped = once(watcher, 'change');
  await stopped;
  await beginAgainAndStop(harness);
  watcher.close();
  program.kill('SIGCONT');
  expect(await program.ended).toEqual([0, expect.any(String)]);
  await expectStatesOfNow(directory, database, states);

  await followToTheTip(harness, RECORD);
  await exportTo(directory, database, { names: [...facts, ...states], depth: 0n });
  await expectWhole(directory, database);
});

/** Stops the indexer on its way from the new start to the tip. */
async function beginAgainAndStop({ simulatedDag, node, database }: Harness): Promise<void> {
  const indexer = startIndexing(simulatedDag, database.url, { ...RECORD, batchTransactions: '30' });
  while ((await database.pool.query('select from gaps')).rowCount === 0) await sleep(1);
  await indexer.stop();
  const { sink } = await node.call('getSink', {});
  const { rowCount } = await database.pool.query(
    `select from checkpoint c join blocks b on b.id = c.block_id where b.hash <> decode($1, 'hex')`,
    [sink],
  );
  expect(rowCount).toBe(1);
}

test('it ends with 75 during the first catch-up', async () => {
  const { simulatedDag, database } = await createPruningHarness('export in a catch-up');
  simulatedDag.mine(300);
  const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '30' });
  while ((await database.pool.query('select from chain_blocks')).rowCount === 0) await sleep(1);
  await indexer.stop();
  expect((await database.pool.query('select from checkpoint where first_catch_up')).rowCount).toBe(1);
  const directory = await freshFolder();
  expect(await startExport(database, [directory, 'blocks', 'utxos']).ended).toEqual([
    EXIT_RETRYABLE,
    expect.stringContaining('The index is in its first catch-up'),
  ]);
});

test.skipIf(!hasReaders)('it exports once what is accepted before a gap and again after it', async () => {
  const harness = await createPruningHarness('export across a gap');
  const { simulatedDag, database } = harness;
  simulatedDag.mine(80);
  const theirs = await forkBelowFinality(harness, 'on its branch', () => followToTheTip(harness));
  await withLowFinality(() => followToTheTip(theirs, RECORD));
  const indexer = startIndexing(theirs.simulatedDag, database.url);
  for (const transaction of await acceptable(database, simulatedDag, theirs.simulatedDag))
    theirs.simulatedDag.submit(transaction);
  const countTwice = async (): Promise<number> => {
    const { rows } = await database.pool.query(
      `select id from chain_blocks cross join lateral unnest(accepted_transactions) accepted (id)
        group by id having count(*) > 1`,
    );
    return rows.length;
  };
  do {
    theirs.simulatedDag.mine(4);
    await atRest(database, theirs.node, indexer);
  } while ((await countTwice()) === 0);
  await indexer.stop();
  for (const raw of [undefined, true] as const) {
    const directory = await freshFolder();
    await exportTo(directory, database, { depth: 0n, ...(raw && { raw }) });
    await expectWhole(directory, database);
  }
});

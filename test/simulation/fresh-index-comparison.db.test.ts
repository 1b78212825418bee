/**
 * Invariants 3, 4, 5, 7 and 8, checked by `expectRight`: after any history, an index is right and
 * equals a fresh one of the final chain.
 */
import { sleep } from '@kasgres/runtime';
import { test } from 'vitest';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

test('an index that followed the chain step by step through reorgs equals a fresh one', async () => {
  const harness = await createHarness('steps');
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  for (let step = 0; step < 60; step += 1) {
    simulatedDag.mine(8);
    if (step % 3 === 0) await atRest(database, node, indexer);
    else await sleep(10);
  }
  await atRest(database, node, indexer);
  // Nothing merges the replaced branch again.
  simulatedDag.reorganise();
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(harness);
});

test('an index that caught up with little memory equals a fresh one', async () => {
  const harness = await createHarness('forgetful');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(300);
  const indexer = startIndexing(simulatedDag, database.url, { memoryTransactions: '100', batchTransactions: '50' });
  await atRest(database, node, indexer);
  for (let step = 0; step < 20; step += 1) {
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await expectRight(harness);
});

test('an index that was stopped and restarted at any moment equals a fresh one', async () => {
  const harness = await createHarness('stops');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(300);
  for (let start = 0; start < 15; start += 1) {
    const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '60' });
    await sleep(20 + 15 * start);
    simulatedDag.mine(10);
    await indexer.stop();
    simulatedDag.mine(10);
  }
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(harness);
});

test('an index whose database connections were cut at any moment equals a fresh one', async () => {
  const harness = await createHarness('cut connections');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(100);
  const indexer = startIndexing(simulatedDag, database.url, { batchTransactions: '60' });
  for (let cut = 0; cut < 12; cut += 1) {
    simulatedDag.mine(15);
    await sleep(15 * cut);
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'indexer under test'`,
    );
  }
  await atRest(database, node, indexer);
  await indexer.stop();
  await expectRight(harness);
});

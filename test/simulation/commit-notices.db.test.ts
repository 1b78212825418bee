/** Listeners hear of each commit after it, apart from its transaction. */
import { listenTo } from '@kasgres/database';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { atRest, createHarness, onTestEnd } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

test('the indexer notifies listeners when a commit is visible', async () => {
  const { simulatedDag, database, node } = await createHarness('commit notices');
  const indexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  simulatedDag.mine(3);
  await atRest(database, node, indexer);
  const listener = new Client({ connectionString: database.url, pipeline: true });
  await listener.connect();
  onTestEnd(() => listener.end());
  const seen: (string | undefined)[] = [];
  listener.on('notification', () => {
    void listener
      .query<{ version: string }>('select version::text from checkpoint')
      .then(({ rows }) => seen.push(rows[0]?.version));
  });
  await listenTo(listener, 'commits');
  for (let step = 0; step < 3; step += 1) {
    simulatedDag.mine(1);
    await atRest(database, node, indexer);
    const { rows } = await database.pool.query<{ version: string }>('select version::text from checkpoint');
    await expect.poll(() => seen.at(-1)).toBe(rows[0]?.version);
  }
});

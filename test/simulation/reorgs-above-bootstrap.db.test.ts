/**
 * The indexer continues from a bootstrap block or a gap through reorgs. Its rows satisfy invariants
 * 3, 4, 7 and 8, and equal those of an index from genesis from which the oracle removes the rows
 * before the bootstrap block afterwards (invariant 5).
 */
import type { Connection } from '@kasgres/database';
import type { PoolClient } from 'pg';
import { expect, test } from 'vitest';
import { differencesOf, takeSnapshot } from '../invariants/snapshot.ts';
import { atRest, freshDatabase, createHarness, expectInvariants } from '../support/harness.ts';
import { startAfterGap, startAgainAt, startAt } from './start-at.ts';
import { startIndexing } from '../support/simulated-dag.ts';

/** No reorg of this longer chain reaches the changed rows. */
const ROUNDS_BEFORE = 120;
const TIMEOUT_MS = 240_000;

const situations: [name: string, change: (client: PoolClient) => Promise<void>][] = [
  ['bootstrapped at a block', (client) => startAt(client, 40)],
  ['continued after a gap', (client) => startAfterGap(client, 25, 40)],
  ['bootstrapped again on the same chain', (client) => startAgainAt(client, 40)],
];

async function inOneTransaction({ pool }: Connection, change: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await change(client);
    await client.query('commit');
  } finally {
    client.release();
  }
}

test.each(situations)(
  'an index %s follows the chain through reorgs like one from genesis',
  { timeout: TIMEOUT_MS },
  async (name, change) => {
    const { simulatedDag, node, database } = await createHarness(name);
    simulatedDag.mine(ROUNDS_BEFORE);
    const first = startIndexing(simulatedDag, database.url);
    await atRest(database, node, first);
    await first.stop();
    await inOneTransaction(database, change);

    const indexer = startIndexing(simulatedDag, database.url, { memoryTransactions: '100' });
    for (let step = 0; step < 10; step += 1) {
      simulatedDag.mine(10);
      await atRest(database, node, indexer);
    }
    await indexer.stop();
    await expectInvariants(database.pool, node);

    const fromGenesis = await freshDatabase();
    const second = startIndexing(simulatedDag, fromGenesis.url);
    await atRest(fromGenesis, node, second);
    await second.stop();
    await inOneTransaction(fromGenesis, change);
    expect(differencesOf(await takeSnapshot(fromGenesis.pool), await takeSnapshot(database.pool))).toEqual([]);
  },
);

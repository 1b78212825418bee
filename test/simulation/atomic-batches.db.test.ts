/** Invariants 1, 2 and 6: a batch is applied as a whole and once. */
import { expect, test } from 'vitest';
import { FatalError, sleep } from '@kasgres/runtime';
import type { TestDatabase } from '@kasgres/database/testing';
import { takeSnapshot } from '../invariants/snapshot.ts';
import { atRest, expectRight, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const TABLES = [
  'blocks',
  'block_parents',
  'chain_blocks',
  'transactions',
  'block_transactions',
  'transaction_inputs',
  'transaction_outputs',
  'scripts',
  'utxos',
  'balances',
  'previous_balance_changes',
  'unmerged_touches',
];

/** Reads every row with its ctid, which changes also if a row is written again unchanged. */
async function fingerprint({ pool }: TestDatabase): Promise<string[]> {
  return await Promise.all(
    TABLES.map(async (table) => {
      const { rows } = await pool.query<{ hash: string }>(
        `select md5(coalesce(string_agg(ctid::text || t::text, ',' order by ctid), '')) as hash from ${table} t`,
      );
      return `${table} ${rows[0]?.hash}`;
    }),
  );
}

test('invariant 1: a batch that fails in its last statement leaves no row, and is applied by the retry', async () => {
  const harness = await createHarness('fails at the end');
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await database.pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'
      using errcode = '53100'; end $$;
     create trigger refuse before insert or update
       on checkpoint for each row execute function refuse()`,
  );
  const before = await fingerprint(database);
  simulatedDag.mine(20);
  await sleep(1_500);
  expect(await fingerprint(database)).toEqual(before);
  await database.pool.query('drop trigger refuse on checkpoint');
  await atRest(database, node, indexer);
  expect(await fingerprint(database)).not.toEqual(before);
  await indexer.stop();
  await expectRight(harness);
});

test('invariant 2: an indexer whose checkpoint another process has moved stops and writes nothing', async () => {
  const { simulatedDag, database, node } = await createHarness('moved checkpoint');
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  await database.pool.query('update checkpoint set chain_index = chain_index + 1');
  const before = await fingerprint(database);
  simulatedDag.mine(5);
  await expect(indexer.ended).rejects.toThrow(/moved by another indexer/);
  await expect(indexer.ended).rejects.toBeInstanceOf(FatalError);
  expect(await fingerprint(database)).toEqual(before);
});

test('invariant 6: a restart does not change an index that is up to date', async () => {
  const { simulatedDag, database, node } = await createHarness('started again');
  simulatedDag.mine(80);
  const first = startIndexing(simulatedDag, database.url);
  await atRest(database, node, first);
  await first.stop();
  const rows = await fingerprint(database);
  const snapshot = await takeSnapshot(database.pool);
  for (let start = 0; start < 3; start += 1) {
    const again = startIndexing(simulatedDag, database.url);
    await sleep(500);
    await again.stop();
  }
  expect(await takeSnapshot(database.pool)).toEqual(snapshot);
  expect(await fingerprint(database)).toEqual(rows);
});

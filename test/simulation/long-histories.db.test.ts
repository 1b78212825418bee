/**
 * Keys and sums of a history that is longer than a test can make: what is chosen by others must not
 * end with the width of a column.
 */
import { expect, test } from 'vitest';
import { atRest, createHarness } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';

const MAX_INTEGER = 2n ** 31n - 1n;
const MAX_BIGINT = 2n ** 63n - 1n;

/**
 * Whoever mines gets the fees back, and may pay them again. On a test network, somebody may own any
 * share of the supply.
 */
const SUMS = {
  network_intervals: 'fees',
  protocol_hours: 'fees',
  program_use_hours: 'fees',
  miner_hours: 'rewards',
};

test('an index follows when sums of fees have more than 64 bits, and keys of kinds more than 31', async () => {
  const { simulatedDag, node, database } = await createHarness('long histories');
  const { pool } = database;
  simulatedDag.mine(250);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  // Anybody may name ticks that nobody has named, in any number of transactions.
  await pool.query(`select setval('inscription_kinds_id_seq', ${MAX_INTEGER})`);
  const beyond = new Set<string>();
  // The chain enters another hour now and then, which has other rows.
  for (let step = 0; step < 12; step += 1) {
    for (const [table, sum] of Object.entries(SUMS)) await pool.query(`update ${table} set ${sum} = ${MAX_BIGINT}`);
    simulatedDag.mine(15);
    await atRest(database, node, indexer);
    for (const [table, sum] of Object.entries(SUMS)) {
      const { rowCount } = await pool.query(`select from ${table} where ${sum} > ${MAX_BIGINT}`);
      if (rowCount !== 0) beyond.add(table);
    }
  }
  await indexer.stop();

  expect([...beyond].sort()).toEqual(Object.keys(SUMS).sort());
  const { rows: kinds } = await pool.query<{ beyond: boolean }>(
    `select max(id) > ${MAX_INTEGER} as beyond from inscription_kinds`,
  );
  expect(kinds).toEqual([{ beyond: true }]);
  for (const view of ['network_minutes', 'network_days', 'protocol_hours', 'program_use_hours']) {
    const { rows } = await pool.query<{ largest: bigint }>(`select max(fees_sompi) as largest from kaspa.${view}`);
    expect(rows, view).toEqual([{ largest: MAX_BIGINT }]);
  }
});

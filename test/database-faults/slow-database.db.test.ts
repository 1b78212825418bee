/**
 * The database is slow or blocked by another session: the indexer waits as long as needed, and
 * gives up no connection (invariant 5).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import type { RunningIndexer } from '../support/simulated-dag.ts';
import { atRest } from '../support/harness.ts';
import { holdEveryBatch, releaseBatches, untilHeld, WITH_ROWS_WRITTEN } from './held-steps.ts';
import { openApi, expectRecovery, follow, growChain, openHarness, type Harness } from './harness.ts';

/** A multiple of the silence after which the indexer probes the server. */
const LONG_MS = 4_000;
/** The indexer stops after this many failures in a row. */
const UNEXPLAINED_FAILURES_BORNE = 5;

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  harness = await openHarness('slow');
  harness.simulatedDag.mine(40);
  ({ api, stop: stopApi } = await openApi(harness));
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

test('the indexer waits for a slow statement, with any limits of its role', async () => {
  await harness.database.pool.query(
    "alter role current_user set statement_timeout = '500ms'; alter role current_user set lock_timeout = '500ms'",
  );
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  await holdEveryBatch(harness, WITH_ROWS_WRITTEN, LONG_MS / 1_000);
  growChain(harness);
  await untilHeld(harness);
  expect((await api.request('/v1/rpc/getSink')).status).toBe(200);
  // This waits for the batch, too.
  await harness.database.pool.query('drop function hold cascade');
  await expectRecovery(harness, indexer, api);
  expect(await failuresOf(indexer)).toBe(0);
});

test.each(['lock table transactions in access exclusive mode', 'select from checkpoint for update'])(
  'the indexer waits for a session that idles in a transaction after `%s`',
  async (statement) => {
    const indexer = follow(harness);
    const somebody = await harness.database.pool.connect();
    await somebody.query(`begin; ${statement}`);
    growChain(harness);
    await expect.poll(() => waitsForLock(harness), { timeout: 30_000 }).toBeGreaterThan(LONG_MS);
    expect((await api.request('/v1/rpc/getSink')).status).toBe(200);
    await somebody.query('rollback');
    somebody.release();
    await expectRecovery(harness, indexer, api);
    expect(await failuresOf(indexer)).toBe(0);
  },
);

test('the indexer retries statements that another session cancels', async () => {
  const indexer = follow(harness);
  await holdEveryBatch(harness, WITH_ROWS_WRITTEN);
  growChain(harness);
  // Each attempt has its own session.
  const cancelled = new Set<number>();
  const cancel = async (): Promise<number> => {
    const { rows } = await harness.database.pool.query<{ pid: number }>(
      "select pid, pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'",
    );
    for (const { pid } of rows) cancelled.add(pid);
    return cancelled.size;
  };
  await expect.poll(cancel, { timeout: 40_000 }).toBeGreaterThan(UNEXPLAINED_FAILURES_BORNE);
  await releaseBatches(harness);
  await expectRecovery(harness, indexer, api);
});

/** Returns for how many milliseconds the indexer has waited for a lock. */
async function waitsForLock({ database }: Harness): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    `select (extract(epoch from now() - query_start) * 1000)::float8 as ms from pg_stat_activity
      where application_name = 'kasgres indexer' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.ms ?? 0;
}

/** Returns how often the indexer retried from the checkpoint. */
async function failuresOf({ metrics }: RunningIndexer): Promise<number> {
  const { values } = await metrics.failures.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

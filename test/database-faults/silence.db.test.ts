/** The way to the database is lost without a word: invariants 1 and 5. What is silent is not taken for dead while it works. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { AT_COMMIT, holdEveryBatch, untilHeld, WITH_ROWS_WRITTEN } from './held-batches.ts';
import { answer, expectRecovery, follow, growChain, openHarness, type Harness, untilItResponses } from './harness.ts';

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  harness = await openHarness('silence');
  harness.simulatedDag.mine(40);
  ({ api, stop: stopApi } = await answer(harness));
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

test('connections are lost in the middle of a batch: it is noticed, and their sessions are ended at the server', async () => {
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  await holdEveryBatch(harness, WITH_ROWS_WRITTEN, 3);
  growChain(harness);
  await untilHeld(harness);
  harness.proxy.lose();
  await untilItResponses(harness.database, 'drop function hold cascade');
  await expectRecovery(harness, indexer, api);
});

test('connections are lost at commit: it has come to pass, and the indexer goes on behind it', async () => {
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  const before = await checkpoint(harness);
  await holdEveryBatch(harness, AT_COMMIT, 3);
  growChain(harness);
  await untilHeld(harness);
  harness.proxy.lose();
  await expect.poll(() => checkpoint(harness), { timeout: 10_000 }).not.toEqual(before);
  await untilItResponses(harness.database, 'drop function hold cascade');
  await expectRecovery(harness, indexer, api);
});

async function checkpoint({ database }: Harness): Promise<bigint | undefined> {
  const { rows } = await database.pool.query<{ block_id: bigint }>('select block_id from checkpoint');
  return rows[0]?.block_id;
}

/**
 * The connections to the database fall silent (invariants 1 and 5). A server that is silent because
 * it works is not given up.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { AT_COMMIT, holdEveryBatch, untilHeld, WITH_ROWS_WRITTEN } from './held-steps.ts';
import { openApi, expectRecovery, follow, growChain, openHarness, type Harness, queryPatiently } from './harness.ts';

let harness: Harness;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  harness = await openHarness('silence');
  harness.simulatedDag.mine(40);
  ({ api, stop: stopApi } = await openApi(harness));
});
afterAll(async () => {
  await stopApi();
  await harness.close();
});

test('the indexer detects connections lost in the middle of a batch, and terminates their sessions at the server', async () => {
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  await holdEveryBatch(harness, WITH_ROWS_WRITTEN, 3);
  growChain(harness);
  await untilHeld(harness);
  harness.proxy.lose();
  await queryPatiently(harness.database, 'drop function hold cascade');
  await expectRecovery(harness, indexer, api);
});

test('the indexer continues after a commit whose acknowledgement was lost', async () => {
  const indexer = follow(harness);
  await atRest(harness.database, harness.node, indexer);
  const before = await checkpoint(harness);
  await holdEveryBatch(harness, AT_COMMIT, 3);
  growChain(harness);
  await untilHeld(harness);
  harness.proxy.lose();
  await expect.poll(() => checkpoint(harness), { timeout: 10_000 }).not.toEqual(before);
  await queryPatiently(harness.database, 'drop function hold cascade');
  await expectRecovery(harness, indexer, api);
});

async function checkpoint({ database }: Harness): Promise<bigint | undefined> {
  const { rows } = await database.pool.query<{ block_id: bigint }>('select block_id from checkpoint');
  return rows[0]?.block_id;
}

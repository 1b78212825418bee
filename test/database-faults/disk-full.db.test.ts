/**
 * The disk of the database is full: the indexer waits and reports it, the API still reads, and with
 * free space all resumes (invariant 5).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { SmallDisk } from './small-disk.ts';
import { openApi, emptyDatabase, expectRecovery, follow, openHarness, type Harness } from './harness.ts';

const disk = await SmallDisk.mount(40);

describe.skipIf(disk === undefined)('a full disk of the database', () => {
  let harness: Harness;
  let api: ApiClient;
  let stopApi: () => Promise<void>;

  beforeAll(async () => {
    harness = await openHarness('disk full');
    const tablespace = await disk?.makeDirectory('tablespace', harness.postgres.dataDirectory);
    await harness.database.pool.query(`create tablespace small location '${tablespace}'`);
    await emptyDatabase(harness, 'small');
    harness.simulatedDag.mine(40);
    ({ api, stop: stopApi } = await openApi(harness));
  });
  afterAll(async () => {
    await stopApi();
    await harness.close();
    await disk?.unmount();
  });

  test('pauses the indexer while it is full, and not the API', async () => {
    const indexer = follow(harness);
    await atRest(harness.database, harness.node, indexer);
    await disk?.fill();
    const before = await rolledBack(harness);
    harness.simulatedDag.mine(60, 20);
    // Several attempts on a busy machine, each with all that COPY writes before the disk is full.
    await expect.poll(() => rolledBack(harness), { timeout: 120_000 }).toBeGreaterThan(before + 1);
    const { status, json } = await api.request('/v1/rpc/getSink');
    expect(status).toBe(200);
    expect(json['sink']).not.toBe((await harness.node.call('getBlockDagInfo', {})).sink);
    await disk?.makeRoom();
    await expectRecovery(harness, indexer, api);
  }, 300_000);
});

async function rolledBack({ database }: Harness): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select xact_rollback::float8 as count from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.count ?? 0;
}

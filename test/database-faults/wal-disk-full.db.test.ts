/**
 * The disk of Postgres's WAL is full: Postgres stops, and cannot start without free space. No
 * commit is lost, and indexer and API resume once an operator has freed space and started it
 * (invariants 1 and 5).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sleep } from '@kasgres/runtime';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { SmallDisk } from './small-disk.ts';
import { openApi, expectRecovery, follow, growChain, openHarness, repeatWhile, type Harness } from './harness.ts';

/** The first write that needs a new segment stops Postgres. */
const POSTGRES_ENDS_WITHIN_MS = 90_000;
/** Room for a few segments of 16 MB. */
const disk = await SmallDisk.mount(60);

describe.skipIf(disk === undefined)('a full disk of the WAL', () => {
  let harness: Harness;
  let api: ApiClient;
  let stopApi: () => Promise<void>;

  beforeAll(async () => {
    harness = await openHarness('WAL disk full');
    const directory = await disk?.makeDirectory('wal', harness.postgres.dataDirectory);
    await harness.postgres.stop();
    await harness.postgres.moveWal(directory as string);
    await harness.postgres.startAgain();
    harness.simulatedDag.mine(40);
    ({ api, stop: stopApi } = await openApi(harness));
  });
  afterAll(async () => {
    await stopApi();
    await harness.close();
    await disk?.unmount();
  });

  test('stops Postgres, and all resumes once it is started with free space', async () => {
    const indexer = follow(harness);
    await atRest(harness.database, harness.node, indexer);
    // A checkpoint or a successful recovery recycles segments, which frees space. With the default
    // restart_after_crash, a recovery succeeds whenever the WAL ends in the middle of a segment, so
    // Postgres might never stop.
    await harness.database.pool.query(`alter system set max_wal_size = '10GB'`);
    await harness.database.pool.query(`alter system set checkpoint_timeout = '1d'`);
    await harness.database.pool.query('alter system set restart_after_crash = off');
    await harness.database.pool.query('select pg_reload_conf()');
    await disk?.fill();
    const endsBefore = performance.now() + POSTGRES_ENDS_WITHIN_MS;
    await repeatWhile(harness.postgres.untilStopped(), async () => {
      if (performance.now() > endsBefore) throw new Error('Postgres runs on although the disk of its WAL is full');
      growChain(harness);
      // The next writes use up the segments and need a new one.
      await harness.database.pool.query('select pg_switch_wal()').catch(() => undefined);
      await sleep(200);
    });
    const { status, json } = await api.request('/v1/rpc/getSink');
    expect({ status, ...json }).toMatchObject({ status: 503, message: 'The database is out of reach' });
    await disk?.makeRoom();
    await harness.postgres.startAgain();
    await expectRecovery(harness, indexer, api);
  }, 180_000);
});

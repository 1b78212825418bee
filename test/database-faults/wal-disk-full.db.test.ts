/**
 * The disk of Postgres's WAL is full: Postgres ends itself, and cannot start before there is room. Nothing of what was committed is lost,
 * and indexer and API go on by themselves when somebody has made room and started it (invariants 1 and 5).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sleep } from '@kasgres/runtime';
import type { HttpClient } from '../api/http-client.ts';
import { atRest } from '../simulation/stage.ts';
import { SmallDisk } from './small-disk.ts';
import { answer, expectRecovery, follow, growChain, openStage, repeatWhile, type Stage } from './stage.ts';

/** The first write that needs a new segment ends Postgres: a few steps, also on a busy machine. */
const POSTGRES_ENDS_WITHIN_MS = 90_000;
/** Some segments of 16 MB. */
const disk = await SmallDisk.mount(60);

describe.skipIf(disk === undefined)('a full disk of the WAL', () => {
  let stage: Stage;
  let api: HttpClient;
  let stopApi: () => Promise<void>;

  beforeAll(async () => {
    stage = await openStage('WAL disk full');
    const directory = await disk?.makeDirectory('wal', stage.postgres.dataDirectory);
    await stage.postgres.stop();
    await stage.postgres.moveWal(directory as string);
    await stage.postgres.startAgain();
    stage.world.mine(40);
    ({ api, stop: stopApi } = await answer(stage));
  });
  afterAll(async () => {
    await stopApi();
    await stage.close();
    await disk?.unmount();
  });

  test('ends Postgres; with room it is started, and everything goes on', async () => {
    const indexer = follow(stage);
    await atRest(stage.database, stage.node, indexer);
    // A checkpoint, or a recovery that succeeds, recycles the segments that exist, and then the disk has room again. With the default
    // restart_after_crash a recovery succeeds whenever the WAL ends in the middle of a segment, so Postgres might never end.
    await stage.database.pool.query(`alter system set max_wal_size = '10GB'`);
    await stage.database.pool.query(`alter system set checkpoint_timeout = '1d'`);
    await stage.database.pool.query('alter system set restart_after_crash = off');
    await stage.database.pool.query('select pg_reload_conf()');
    await disk?.fill();
    const endsBefore = performance.now() + POSTGRES_ENDS_WITHIN_MS;
    await repeatWhile(stage.postgres.untilEnded(), async () => {
      if (performance.now() > endsBefore) throw new Error('Postgres runs on although the disk of its WAL is full');
      growChain(stage);
      // What is written next needs a new segment, once those are used up that were there.
      await stage.database.pool.query('select pg_switch_wal()').catch(() => undefined);
      await sleep(200);
    });
    const { status, json } = await api.request('/v1/rpc/getSink');
    expect({ status, ...json }).toMatchObject({ status: 503, message: 'The database is out of reach' });
    await disk?.makeRoom();
    await stage.postgres.startAgain();
    await expectRecovery(stage, indexer, api);
  }, 180_000);
});

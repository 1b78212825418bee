/** The database's disk is full: the indexer waits and says so, the API goes on reading, and with room everything goes on (invariant 5). */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '@kasgres/database';
import type { HttpClient } from '../api/http-client.ts';
import { atRest } from '../simulation/stage.ts';
import { answer, expectRecovery, follow, openStage, type Stage } from './stage.ts';

const run = promisify(execFile);
const DISK = '40m';
const BALLAST_BYTES = 64 * 1024 * 1024;

/** A small disk, where this process may mount one. */
async function mountDisk(): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', directory]);
    return directory;
  } catch {
    await rm(directory, { recursive: true });
    return undefined;
  }
}

const disk = await mountDisk();
if (disk === undefined) console.log('skipped: only root may mount a small disk to fill');

describe.skipIf(disk === undefined)('a full disk', () => {
  const directory = disk ?? '';
  const ballast = join(directory, 'ballast');
  let stage: Stage;
  let api: HttpClient;
  let stopApi: () => Promise<void>;

  beforeAll(async () => {
    stage = await openStage('disk full');
    const owner = await stat(stage.postgres.dataDirectory);
    await chmod(directory, 0o711);
    const tablespace = await mkdtemp(join(directory, 'tablespace-'));
    await chown(tablespace, owner.uid, owner.gid);
    const server = connect({
      url: stage.postgres.url.replace(/\w+$/, 'postgres'),
      applicationName: 'kasgres test',
      max: 1,
    });
    await server.pool.query(`create tablespace small location '${tablespace}'`);
    await server.pool.query('alter database kasgres set tablespace small');
    await server.close();
    stage.world.mine(40);
    ({ api, stop: stopApi } = await answer(stage));
  });
  afterAll(async () => {
    await stopApi();
    await stage.close();
    await run('umount', [directory]);
    await rm(directory, { recursive: true });
  });

  test('stops the indexer for as long as it is full, and nobody else', async () => {
    const indexer = follow(stage);
    await atRest(stage.database, stage.node, indexer);
    // As much of it as there is room for.
    await writeFile(ballast, Buffer.alloc(BALLAST_BYTES)).catch(() => undefined);
    const before = await rolledBack(stage);
    stage.world.mine(60, 20);
    await expect.poll(() => rolledBack(stage), { timeout: 30_000 }).toBeGreaterThan(before + 1);
    const { status, json } = await api.request('/v1/rpc/getSink');
    expect(status).toBe(200);
    expect(json['sink']).not.toBe((await stage.node.call('getBlockDagInfo', {})).sink);
    await rm(ballast);
    await expectRecovery(stage, indexer, api);
  });
});

async function rolledBack({ database }: Stage): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select xact_rollback::float8 as count from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.count ?? 0;
}

/**
 * A cluster on disk: a directory `cluster` with Postgres's `data` and the `password` of its
 * superuser (mode 0600). If the account of Postgres cannot reach it, because only root may enter,
 * the cluster is in root's shared directory and `cluster` is a symbolic link to it.
 *
 * It is created aside and then renamed or linked, so that it is complete or missing, and of two
 * racing starts one wins.
 */
import { randomBytes } from 'node:crypto';
import { chown, lstat, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@kasgres/runtime';
import { type Account, EmbeddedPostgresUnavailableError, makeReachableDirectory, run } from './account.ts';
import type { Binaries } from './binaries.ts';

export const SUPERUSER = 'kasgres';

/** Messages must be in English, and PG* variables of the caller must have no effect. */
export const POSTGRES_ENV: NodeJS.ProcessEnv = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };

/**
 * Settings for an indexer on a small machine: many writes, in large transactions, durable. `initdb`
 * writes them into postgresql.conf.
 */
export const INDEXER_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '256MB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // These binaries are built without lz4, and pglz takes up to half a millisecond for a page, which
  // the batch at the tip waits for.
  wal_compression: 'off',
  // Nothing replicates from it, so a new index needs no WAL, only a disk sync.
  wal_level: 'minimal',
  max_wal_senders: '0',
  random_page_cost: '1.1',
  // Compiling a short query takes longer than running it.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Settings for databases that are thrown away: nothing waits for the disk. */
export const TEMPORARY_SETTINGS: Readonly<Record<string, string>> = {
  ...INDEXER_SETTINGS,
  shared_buffers: '128MB',
  maintenance_work_mem: '64MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '1GB',
};

export interface Cluster {
  directory: string;
  dataDirectory: string;
  password: string;
}

/**
 * Returns the real path of the cluster, by which a postmaster is recognised; undefined if there is
 * none.
 */
export async function findClusterDirectory(parent: string): Promise<string | undefined> {
  const path = join(parent, 'cluster');
  if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
  try {
    return await realpath(path);
  } catch (error) {
    throw new FatalError(
      `${path} links to a database that no longer exists. Remove the link to start with an empty database.`,
      {
        cause: error,
      },
    );
  }
}

/** Creates the cluster and returns its real path. */
export async function createCluster(
  parent: string,
  binaries: Binaries,
  account: Account,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const path = join(parent, 'cluster');
  const aside = await makeReachableDirectory(parent, '.cluster-', account);
  try {
    await initializeCluster(aside.directory, binaries, account, settings);
    await (aside.isShared ? symlink(aside.directory, path) : rename(aside.directory, path));
  } catch (error) {
    await rm(aside.directory, { recursive: true, force: true });
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code)) throw error;
  }
  return await realpath(path);
}

/** @throws {FatalError} if the cluster belongs to another user */
export async function readCluster(directory: string): Promise<Cluster> {
  try {
    const password = (await readFile(join(directory, 'password'), 'utf8')).trim();
    return { directory, dataDirectory: join(directory, 'data'), password };
  } catch (error) {
    throw new FatalError(
      `The database in ${directory} cannot be read. If another user created it, start as that user or set another DATA_DIR.`,
      { cause: error },
    );
  }
}

/** Runs initdb in an empty directory that belongs to the account. */
export async function initializeCluster(
  directory: string,
  { initdb }: Binaries,
  account: Account,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600, flag: 'wx' });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  const result = await run(
    initdb,
    [
      `--pgdata=${join(directory, 'data')}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      // Text must sort the same on all systems.
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(settings['fsync'] === 'off' ? ['--no-sync'] : []),
      ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
    ],
    { account, env: POSTGRES_ENV },
  );
  if (result.code !== 0) {
    throw new EmbeddedPostgresUnavailableError(`initdb failed in ${directory}:\n${result.output.trim()}`);
  }
}

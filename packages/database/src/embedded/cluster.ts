/**
 * A cluster on disk: a directory with Postgres's `data` and the `password` of its superuser (mode 0600). Its place is
 * `cluster` in the directory that the caller gives. Where the account of Postgres cannot get there, because only root may
 * enter, the cluster is in root's shared directory and `cluster` is a symbolic link to it.
 *
 * It is made aside and then renamed (or linked) into place, so that it is there whole or not at all, and of two starts that
 * race one wins and the other uses what it made.
 */
import { randomBytes } from 'node:crypto';
import { chown, lstat, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@kasgres/runtime';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { makeReachableDirectory } from './reachable-directory.ts';
import { type Account, run } from './run.ts';

export const SUPERUSER = 'kasgres';

/** Messages that we read must be in one language, and nothing of the caller's PG* variables may steer these commands. */
export const POSTGRES_ENV: NodeJS.ProcessEnv = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };

export interface Cluster {
  directory: string;
  dataDirectory: string;
  password: string;
}

/** The cluster of a directory when it has one. `realpath`, since a postmaster is recognised by where its files really are. */
export async function findClusterDirectory(parent: string): Promise<string | undefined> {
  const path = join(parent, 'cluster');
  if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
  try {
    return await realpath(path);
  } catch (error) {
    throw new FatalError(`${path} leads to a database that is gone. Remove it to start with an empty one.`, {
      cause: error,
    });
  }
}

/** Makes the cluster of a directory and returns where it really is. */
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

/** @throws {FatalError} when the cluster belongs to another user */
export async function readCluster(directory: string): Promise<Cluster> {
  try {
    const password = (await readFile(join(directory, 'password'), 'utf8')).trim();
    return { directory, dataDirectory: join(directory, 'data'), password };
  } catch (error) {
    throw new FatalError(
      `The database in ${directory} cannot be read. If another user made it, start as that user or set another DATA_DIR.`,
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
      // The same order of text everywhere, whatever locales the system has.
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

/**
 * A Postgres of our own for whoever has none: for `kasgres start` without DATABASE_URL, kept in DATA_DIR, and for tests,
 * thrown away at the end. It listens on 127.0.0.1 with a generated password, since other users of the machine can reach the
 * loopback too.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chooseAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { createCluster, findClusterDirectory, initializeCluster, readCluster } from './cluster.ts';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { type LaunchedPostgres, launch } from './launch.ts';
import { makeReachableDirectory } from './reachable-directory.ts';
import { INDEXER_SETTINGS, TEMPORARY_SETTINGS } from './settings.ts';

interface EmbeddedPostgresOptions {
  /** Has the cluster in it and Postgres's log, `postgres.log`. Made where missing. */
  dataDir: string;
  /** A free one by default. */
  port?: number;
}

export interface EmbeddedPostgres extends LaunchedPostgres {
  /** Where the cluster really is: outside `dataDir` where only root may enter that. */
  directory: string;
}

/**
 * Starts the Postgres of a directory, with the data of its last start.
 * @throws {EmbeddedPostgresUnavailableError} when none can run here
 * @throws {FatalError} when it is in use already, or belongs to another user
 */
export async function startEmbeddedPostgres({ dataDir, port }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  refuseWindows();
  const parent = resolve(dataDir);
  const existing = await findClusterDirectory(parent);
  const account = await chooseAccount(existing);
  const binaries = await findBinaries(account);
  const directory = existing ?? (await createCluster(parent, binaries, account, INDEXER_SETTINGS));
  const cluster = await readCluster(directory);
  const postgres = await launch({ cluster, binaries, account, port, logFile: join(parent, 'postgres.log') });
  return { ...postgres, directory };
}

/** Starts an empty Postgres in a temporary directory that is deleted when it ends. Durable against nothing, and fast. */
export async function startTemporaryPostgres(): Promise<EmbeddedPostgres> {
  refuseWindows();
  const account = await chooseAccount(undefined);
  const binaries = await findBinaries(account);
  const { directory } = await makeReachableDirectory(tmpdir(), 'kasgres-postgres-', account);
  const remove = async (): Promise<void> => await rm(directory, { recursive: true, force: true });
  try {
    await initializeCluster(directory, binaries, account, TEMPORARY_SETTINGS);
    const cluster = await readCluster(directory);
    const logFile = join(directory, 'log');
    const postgres = await launch({ cluster, binaries, account, logFile, removeAtEnd: directory });
    return { ...postgres, directory, stop: async (options) => await postgres.stop(options).then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

function refuseWindows(): void {
  if (process.platform === 'win32') {
    throw new EmbeddedPostgresUnavailableError('The embedded Postgres is for Linux and macOS.');
  }
}

/**
 * An embedded Postgres: kept in DATA_DIR for `kasgres start` without DATABASE_URL, temporary for
 * tests. It listens on 127.0.0.1 with a generated password, since other users of the machine can
 * reach the loopback interface too.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chooseAccount, EmbeddedPostgresUnavailableError, makeReachableDirectory } from './account.ts';
import { findBinaries } from './binaries.ts';
import {
  createCluster,
  findClusterDirectory,
  initializeCluster,
  readCluster,
  INDEXER_SETTINGS,
  TEMPORARY_SETTINGS,
} from './cluster.ts';
import { type LaunchedPostgres, launch } from './launch.ts';

interface EmbeddedPostgresOptions {
  /** Contains the cluster and `postgres.log`. Created if missing. */
  dataDir: string;
  /** The preferred one: if it is taken, or by default, a free one is chosen. */
  port?: number | undefined;
  /** Ends a start that is under way; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

export interface EmbeddedPostgres extends LaunchedPostgres {
  /** The real path of the cluster: outside `dataDir` if only root may enter that. */
  directory: string;
}

/**
 * Starts the Postgres of a directory, with its existing data.
 * @throws {EmbeddedPostgresUnavailableError}
 * @throws {FatalError} if it is in use, or belongs to another user
 */
export async function startEmbeddedPostgres({
  dataDir,
  port,
  signal,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  refuseWindows();
  const parent = resolve(dataDir);
  const existing = await findClusterDirectory(parent);
  const account = await chooseAccount(existing);
  const binaries = await findBinaries(account);
  const directory = existing ?? (await createCluster(parent, binaries, account, INDEXER_SETTINGS));
  const cluster = await readCluster(directory);
  const postgres = await launch({
    cluster,
    binaries,
    account,
    port,
    signal,
    logFile: join(parent, 'postgres.log'),
  });
  return { ...postgres, directory };
}

/**
 * Starts an empty Postgres in a temporary directory, which is deleted when it stops. It is fast and
 * not durable.
 */
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

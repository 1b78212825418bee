/**
 * A Postgres of our own for whoever has none: for `kasgres start` without DATABASE_URL, kept in DATA_DIR, and for tests,
 * thrown away at the end. It listens on 127.0.0.1 with a generated password, since other users of the machine can reach the
 * loopback too.
 */
import { chown, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isAbortError, sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import { chooseAccount } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import {
  type Cluster,
  createCluster,
  findClusterDirectory,
  initializeCluster,
  POSTGRES_ENV,
  readCluster,
  SUPERUSER,
} from './cluster.ts';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { clearDataDirectory } from './orphan.ts';
import type { Account } from './run.ts';
import { INDEXER_SETTINGS, listenSettings, TEMPORARY_SETTINGS } from './settings.ts';
import { type SupervisedPostgres, supervise } from './supervisor.ts';

const DATABASE = 'kasgres';
/** Recovery after a crash replays up to `max_wal_size` of WAL before it lets anybody in. */
const READY_MS = 600_000;
const ATTEMPTS = 5;

export interface EmbeddedPostgresOptions {
  /** Has the cluster in it and Postgres's log, `postgres.log`. Made where missing. */
  dataDir: string;
  /** A free one by default. */
  port?: number;
}

export interface EmbeddedPostgres {
  /** With user and password, of the database `kasgres`. */
  url: string;
  port: number;
  /** Where the cluster really is: outside `dataDir` where only root may enter that. */
  directory: string;
  /** Resolves with the exit code when Postgres has ended, whoever ended it. */
  exited: Promise<number | undefined>;
  stop: () => Promise<void>;
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
  return await start({
    cluster: await readCluster(directory),
    binaries,
    account,
    port,
    logFile: join(parent, 'postgres.log'),
  });
}

/** Starts an empty Postgres in a temporary directory that is deleted when it ends. Durable against nothing, and fast. */
export async function startTemporaryPostgres(): Promise<EmbeddedPostgres> {
  refuseWindows();
  const account = await chooseAccount(undefined);
  const binaries = await findBinaries(account);
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'kasgres-postgres-'));
  if (account !== undefined) await chown(directory, account.uid, account.gid);
  try {
    await initializeCluster(directory, binaries, account, TEMPORARY_SETTINGS);
    const cluster = await readCluster(directory);
    return await start({ cluster, binaries, account, logFile: join(directory, 'log'), removeAtEnd: directory });
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

interface StartOptions {
  cluster: Cluster;
  binaries: Binaries;
  account: Account;
  port?: number | undefined;
  logFile: string;
  removeAtEnd?: string;
}

/** A free port may be taken before Postgres has it, and what a killed one left may take a moment to go: hence attempts. */
async function start(options: StartOptions): Promise<EmbeddedPostgres> {
  const { cluster, binaries, account, logFile, removeAtEnd } = options;
  for (let attempt = 1; ; attempt += 1) {
    const foreignPid = await clearDataDirectory(cluster.dataDirectory);
    const port = options.port ?? (await findFreePort());
    const postgres = await supervise({
      command: [binaries.postgres, '-D', cluster.dataDirectory, ...listenSettings(port)],
      account,
      // A process of another kind may have the id that a stale lock file names. This is how pg_ctl tells Postgres that an id
      // is no postmaster; unlike deleting the file it leaves Postgres's check for backends that still run.
      env: { ...POSTGRES_ENV, ...(foreignPid === undefined ? {} : { PG_GRANDPARENT_PID: String(foreignPid) }) },
      logFile,
      removeAtEnd,
    });
    const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/`;
    if (await becomesReady(postgres, url)) {
      return { ...postgres, url: `${url}${DATABASE}`, port, directory: cluster.directory };
    }
    if (attempt === ATTEMPTS) {
      throw new EmbeddedPostgresUnavailableError(
        `Postgres does not start. Its last words:\n${await readTail(logFile)}`,
      );
    }
    await sleep(200 * attempt);
  }
}

/** Whether Postgres lets us in before it ends; makes the database where it is not there yet. */
async function becomesReady(postgres: SupervisedPostgres, url: string): Promise<boolean> {
  const ended = new AbortController();
  void postgres.exited.then(() => ended.abort());
  for (const end = Date.now() + READY_MS; Date.now() < end && !ended.signal.aborted; ) {
    if (await tryToCreateDatabase(`${url}postgres`)) return true;
    await sleep(50, ended.signal).catch((error: unknown) => {
      if (!isAbortError(error)) throw error;
    });
  }
  await postgres.stop();
  return false;
}

async function tryToCreateDatabase(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
    return true;
  } catch {
    // Not listening yet, or still in recovery. Why it ended, if it does, is in its log.
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve: onListening, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', () => onListening());
  await promise;
  const { port } = server.address() as AddressInfo;
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  server.close(() => onClosed());
  await closed;
  return port;
}

async function readTail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-10).join('\n');
}

function refuseWindows(): void {
  if (process.platform === 'win32') {
    throw new EmbeddedPostgresUnavailableError('The embedded Postgres is for Linux and macOS.');
  }
}

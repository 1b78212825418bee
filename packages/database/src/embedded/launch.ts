/** From a cluster on disk to a Postgres that answers: a free port, the start, and the wait for the end of its recovery. */
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { isAbortError, sleep } from '@kasgres/runtime';
import { Client } from 'pg';
import type { Binaries } from './binaries.ts';
import { type Cluster, POSTGRES_ENV, SUPERUSER } from './cluster.ts';
import { EmbeddedPostgresUnavailableError } from './errors.ts';
import { clearDataDirectory } from './orphan.ts';
import type { Account } from './run.ts';
import { listenSettings } from './settings.ts';
import { type SupervisedPostgres, supervise } from './supervisor.ts';

const DATABASE = 'kasgres';
/** Recovery after a crash replays up to `max_wal_size` of WAL before it lets anybody in. */
const READY_MS = 600_000;
const ATTEMPTS = 5;

export interface LaunchedPostgres extends SupervisedPostgres {
  /** With user and password, of the database `kasgres`. */
  url: string;
  port: number;
}

interface LaunchOptions {
  cluster: Cluster;
  binaries: Binaries;
  account: Account;
  /** A free one by default. */
  port?: number | undefined;
  /** What Postgres says goes to the end of this file. */
  logFile: string;
  /** Deleted once Postgres was shut down, even when we are gone by then. */
  removeAtEnd?: string;
}

/**
 * Starts Postgres on a cluster and waits until it lets us in. A free port may be taken before Postgres has it, and backends of
 * a killed one may take a moment to go: hence attempts.
 */
export async function launch(options: LaunchOptions): Promise<LaunchedPostgres> {
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
      return { ...postgres, url: `${url}${DATABASE}`, port };
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

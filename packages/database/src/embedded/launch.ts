/**
 * Starts Postgres on a cluster: finds a free port, starts it, and waits until its recovery is over.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { sleep } from '@kasgres/runtime';
import { Client, DatabaseError } from 'pg';
import { type Account, EmbeddedPostgresUnavailableError } from './account.ts';
import type { Binaries } from './binaries.ts';
import { type Cluster, POSTGRES_ENV, SUPERUSER } from './cluster.ts';
import { clearDataDirectory } from './orphan.ts';
import { type SupervisedPostgres, supervise } from './supervisor.ts';
import { clientConfig } from '../connection/client-config.ts';

const DATABASE = 'kasgres';
/**
 * Recovery after a crash replays up to `max_wal_size` of WAL before Postgres accepts connections.
 */
const READY_MS = 600_000;
const ATTEMPTS = 5;
/** Creating the database takes a second on a slow disk. */
const RESPONSE_WITHIN_MS = 60_000;

export interface LaunchedPostgres extends SupervisedPostgres {
  /** URL of the database `kasgres` with user and password. */
  url: string;
  port: number;
}

interface LaunchOptions {
  cluster: Cluster;
  binaries: Binaries;
  account: Account;
  /** The preferred one: if it is taken, or by default, a free one is chosen. */
  port?: number | undefined;
  /** The log of Postgres is appended to this file. */
  logFile: string;
  /** Deleted after Postgres has shut down, even if this process is gone by then. */
  removeAtEnd?: string;
  /** Ends the wait until Postgres is ready, which a recovery may prolong. */
  signal?: AbortSignal | undefined;
}

/**
 * Starts Postgres and waits until it accepts connections. Retries, since another program may take
 * the free port before Postgres does, and backends of a killed Postgres may need a moment to exit.
 */
export async function launch(options: LaunchOptions): Promise<LaunchedPostgres> {
  const { cluster, binaries, account, logFile, removeAtEnd, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    const foreignPid = await clearDataDirectory(cluster.dataDirectory);
    const port = await findFreePort(options.port);
    const postgres = await supervise({
      command: [binaries.postgres, '-D', cluster.dataDirectory, ...listenSettings(port)],
      account,
      // Another program may have the process id in a stale lock file. With this variable pg_ctl
      // tells Postgres that the id is not a postmaster. Deleting the file instead would disable
      // Postgres's check for running backends.
      env: { ...POSTGRES_ENV, ...(foreignPid === undefined ? {} : { PG_GRANDPARENT_PID: String(foreignPid) }) },
      logFile,
      removeAtEnd,
    });
    // The variables of libpq are for other servers, and this one has no TLS.
    const urlOf = (name: string): string =>
      `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${name}?sslmode=disable`;
    if (await becomesReady(postgres, urlOf('postgres'), signal)) {
      return { ...postgres, url: urlOf(DATABASE), port };
    }
    signal?.throwIfAborted();
    if (attempt === ATTEMPTS) {
      throw new EmbeddedPostgresUnavailableError(
        `Postgres does not start. The end of its log:\n${await readTail(logFile)}`,
      );
    }
    await sleep(200 * attempt);
  }
}

/**
 * Returns whether Postgres accepts connections before it exits. Creates the database if it is
 * missing.
 */
async function becomesReady(
  postgres: SupervisedPostgres,
  url: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const exited = new AbortController();
  void postgres.exited.then(() => exited.abort());
  const ended = signal === undefined ? exited.signal : AbortSignal.any([exited.signal, signal]);
  try {
    for (const end = performance.now() + READY_MS; performance.now() < end && !ended.aborted; ) {
      if (await tryToCreateDatabase(url)) return true;
      await sleep(50, ended).catch(() => undefined);
    }
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  await postgres.stop({ immediate: signal?.aborted === true });
  return false;
}

async function tryToCreateDatabase(url: string): Promise<boolean> {
  const client = new Client({ ...clientConfig(url), query_timeout: RESPONSE_WITHIN_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
    return true;
  } catch (error) {
    // It does not listen yet, or is in recovery. If it exits, its log has the reason. Any other
    // error would only recur.
    if (isStarting(error)) return false;
    throw new EmbeddedPostgresUnavailableError(`Postgres started, and does not accept connections: ${String(error)}`);
  } finally {
    await client.end().catch(() => {});
  }
}

const NOT_LISTENING: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
const TOO_MANY_CONNECTIONS = '53300';
/** A standby that has not received the database of its primary yet. */
const READ_ONLY_TRANSACTION = '25006';

function isStarting(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    // 57P03: cannot connect now, and its siblings.
    return (
      error.code?.startsWith('57P') === true ||
      error.code === TOO_MANY_CONNECTIONS ||
      error.code === READ_ONLY_TRANSACTION
    );
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return NOT_LISTENING.has(code) || /connection terminated|timeout/iu.test(String(error));
}

async function findFreePort(preferred = 0): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen(preferred, '127.0.0.1'), 'listening');
  } catch (error) {
    if (preferred === 0) throw error;
    return await findFreePort();
  }
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

async function readTail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-10).join('\n');
}

/** TCP on the loopback interface. There is no Unix socket, whose path must not exceed 107 bytes. */
function listenSettings(port: number): string[] {
  return [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap((line) => ['-c', line]);
}

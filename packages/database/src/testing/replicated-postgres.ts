/**
 * A temporary primary and a streaming standby for tests of replicas. The standby is a file copy of
 * the cluster before its first start, so no backup is needed: started with `standby.signal`, it
 * replays the WAL of the primary.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Account,
  chooseAccount,
  EmbeddedPostgresUnavailableError,
  makeReachableDirectory,
  run,
} from '../embedded/account.ts';
import { findBinaries } from '../embedded/binaries.ts';
import {
  type Cluster,
  initializeCluster,
  POSTGRES_ENV,
  readCluster,
  SUPERUSER,
  TEMPORARY_SETTINGS,
} from '../embedded/cluster.ts';
import { type LaunchedPostgres, launch } from '../embedded/launch.ts';
import type { StopOptions } from '../embedded/supervisor.ts';

const SETTINGS: Readonly<Record<string, string>> = {
  ...TEMPORARY_SETTINGS,
  wal_level: 'replica',
  max_wal_senders: '10',
  // Commits are sent at once, not by the next cycle of the WAL writer.
  synchronous_commit: 'on',
  // A stopped standby can catch up later.
  wal_keep_size: '1GB',
  // Only tests remove rows.
  autovacuum: 'off',
};

interface ReplicatedPostgresOptions {
  /** Settings of the standby, `{ max_standby_streaming_delay: '0' }`. */
  standbySettings?: Readonly<Record<string, string>>;
}

export interface ReplicatedPostgres {
  /** URL of the database `kasgres`, which is empty at first. */
  primaryUrl: string;
  /** URL on the standby, unchanged after a restart. */
  standbyUrl: string;
  stopStandby: (options?: StopOptions) => Promise<void>;
  /** Restarts the standby at the same port. */
  restartStandby: () => Promise<void>;
  stop: () => Promise<void>;
}

/** @throws {EmbeddedPostgresUnavailableError} */
export async function startReplicatedPostgres({
  standbySettings = {},
}: ReplicatedPostgresOptions = {}): Promise<ReplicatedPostgres> {
  const account = await chooseAccount(undefined);
  const binaries = await findBinaries(account);
  const { directory } = await makeReachableDirectory(tmpdir(), 'kasgres-replicated-', account);
  const running: LaunchedPostgres[] = [];
  const stop = async (): Promise<void> => {
    // The standby stops first: a primary that shuts down waits until its standby has received all
    // WAL.
    for (const postgres of running.toReversed()) await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await initializeCluster(directory, binaries, account, SETTINGS);
    const cluster = await readCluster(directory);
    const standbyCluster = await copyCluster(cluster, account);

    const shared = { binaries, account };
    // The primary's supervisor deletes everything, even if this process is gone.
    const primary = await launch({ ...shared, cluster, logFile: join(directory, 'log'), removeAtEnd: directory });
    running.push(primary);
    const primaryInfo = connectionInfo(primary, cluster);
    await makeStandby(standbyCluster, { ...standbySettings, primary_conninfo: primaryInfo }, account);
    // The standby is ready when the database of the primary has been replicated.
    const standbyOptions = { ...shared, cluster: standbyCluster, logFile: join(directory, 'standby.log') };
    let standby = await launch(standbyOptions);
    running.push(standby);
    return {
      primaryUrl: primary.url,
      standbyUrl: standby.url,
      stopStandby: async (options) => await standby.stop(options),
      restartStandby: async () => {
        const { port } = standby;
        standby = await launch({ ...standbyOptions, port });
        running[1] = standby;
        if (standby.port !== port) throw new Error(`another program has taken port ${port}`);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function copyCluster({ directory, dataDirectory, password }: Cluster, account: Account): Promise<Cluster> {
  const copy = join(directory, 'standby');
  await runAs(account, 'cp', ['-Rp', dataDirectory, copy]);
  return { directory, dataDirectory: copy, password };
}

/**
 * The account itself writes the files, which it must own. The settings contain a password, so they
 * are not passed as arguments.
 */
async function makeStandby(
  { dataDirectory }: Cluster,
  settings: Readonly<Record<string, string>>,
  account: Account,
): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  const script = 'printf %s "$SETTINGS" >>"$1/postgresql.auto.conf" && : >"$1/standby.signal"';
  await runAs(account, '/bin/sh', ['-c', script, 'sh', dataDirectory], { SETTINGS: lines.join('') });
}

const connectionInfo = ({ port }: LaunchedPostgres, { password }: Cluster): string =>
  `host=127.0.0.1 port=${port} user=${SUPERUSER} password=${password}`;

async function runAs(
  account: Account,
  command: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { code, output } = await run(command, parameters, { account, env: { ...POSTGRES_ENV, ...env } });
  if (code !== 0) throw new EmbeddedPostgresUnavailableError(`No standby can be made: ${output.trim()}`);
}

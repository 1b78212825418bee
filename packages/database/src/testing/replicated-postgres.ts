/**
 * A primary and a streaming standby for tests of what a replica does: real ones, on free ports, thrown away at the end.
 *
 * A cluster that was never started is at rest, so its copy needs no backup: started with `standby.signal`, it replays whatever
 * the other one has written since.
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
  // What is committed is sent at once, not with the next round of the WAL writer.
  synchronous_commit: 'on',
  // A standby that was stopped finds what it missed.
  wal_keep_size: '1GB',
  // Rows are removed when a test removes them.
  autovacuum: 'off',
};

interface ReplicatedPostgresOptions {
  /** Settings of the standby, `{ max_standby_streaming_delay: '0' }`. */
  standbySettings?: Readonly<Record<string, string>>;
}

export interface ReplicatedPostgres {
  /** Of the database `kasgres`, which is empty at first. */
  primaryUrl: string;
  /** The same on the standby, also after a restart. */
  standbyUrl: string;
  stopStandby: (options?: StopOptions) => Promise<void>;
  /** Starts the standby again where it was. */
  restartStandby: () => Promise<void>;
  stop: () => Promise<void>;
}

/** @throws {EmbeddedPostgresUnavailableError} when no embedded Postgres can run here */
export async function startReplicatedPostgres({
  standbySettings = {},
}: ReplicatedPostgresOptions = {}): Promise<ReplicatedPostgres> {
  const account = await chooseAccount(undefined);
  const binaries = await findBinaries(account);
  const { directory } = await makeReachableDirectory(tmpdir(), 'kasgres-replicated-', account);
  const running: LaunchedPostgres[] = [];
  const stop = async (): Promise<void> => {
    // The standby first: a primary that shuts down waits for it to take the last of its WAL.
    for (const postgres of running.toReversed()) await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await initializeCluster(directory, binaries, account, SETTINGS);
    const cluster = await readCluster(directory);
    const standbyCluster = await copyCluster(cluster, account);

    const shared = { binaries, account };
    // Everything goes with the primary, even when we are gone by then.
    const primary = await launch({ ...shared, cluster, logFile: join(directory, 'log'), removeAtEnd: directory });
    running.push(primary);
    const primaryInfo = connectionInfo(primary, cluster);
    await makeStandby(standbyCluster, { ...standbySettings, primary_conninfo: primaryInfo }, account);
    // Its database comes from the primary: once it is there, so is all that was written before.
    const standbyOptions = { ...shared, cluster: standbyCluster, logFile: join(directory, 'standby.log') };
    let standby = await launch(standbyOptions);
    running.push(standby);
    return {
      primaryUrl: primary.url,
      standbyUrl: standby.url,
      stopStandby: async (options) => await standby.stop(options),
      restartStandby: async () => {
        standby = await launch({ ...standbyOptions, port: standby.port });
        running[1] = standby;
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

/** By the account itself, whose files they are to be. The settings have a password in them, which no list of processes may show. */
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

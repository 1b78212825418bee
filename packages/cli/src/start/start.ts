// `kasgres start`: everything that is needed, from nothing. What NODE_URL and DATABASE_URL do not name is brought along: a
// simulated node, an embedded Postgres. The programs are processes of their own (supervised-program.ts); this one starts
// them in order, restarts what may be restarted, tells a person how it goes, and ends them in the opposite order.

import { existsSync } from 'node:fs';
import { migrate } from '@kasgres/database';
import { Shutdown } from '@kasgres/runtime';
import { apiUrlOf } from '../api-status.ts';
import { makeDataDir } from '../data-dir.ts';
import type { DataDir } from '../data-dir.ts';
import type { CliEnv } from '../env.ts';
import { print } from '../print.ts';
import { programPaths } from '../programs.ts';
import { findRuntimeFile, writeRuntimeFile } from '../runtime-file.ts';
import { watchStopRequests } from '../stop-requests.ts';
import type { StopRequests } from '../stop-requests.ts';
import { wordsOf } from '../words.ts';
import { commandInShell, greetingLines } from './greeting.ts';
import { prepareDatabase, readDemo } from './demo.ts';
import { KeptPostgres } from './kept-postgres.ts';
import { takeLock } from './lock.ts';
import { choosePorts } from './ports.ts';
import type { Ports } from './ports.ts';
import { followIndex, waitUntilUsable } from './progress.ts';
import { startSimulatedNode } from './simulated-node.ts';
import { Supervisor } from './supervisor.ts';
import { waitForProcessesToEnd } from './wait-for-processes.ts';

const AT_ONCE_MS = 3_000;

/** Runs until it is asked to end, or until a program cannot go on. Returns the exit code. */
export async function start(env: CliEnv): Promise<number> {
  const requests = watchStopRequests();
  const dataDir = await makeDataDir(env.DATA_DIR);
  const shutdown = new Shutdown();
  const lock = await takeLock(
    dataDir.lockFile,
    (processId) =>
      `Kasgres already runs on ${dataDir.path} (process ${processId}). Stop it first, or set DATA_DIR and PORT for a second one.`,
  );
  shutdown.add('the lock', () => lock.release());
  const supervisor = new Supervisor(dataDir.logs, print);
  requests.clean.addEventListener('abort', () => print('Ending. Once more ends it at once.'));
  requests.atOnce.addEventListener('abort', () => {
    supervisor.endAtOnce();
    // Whatever still hangs: Postgres ends by itself when this process is gone.
    setTimeout(() => process.exit(130), AT_ONCE_MS).unref();
  });
  let exitCode = 0;
  try {
    await run(env, dataDir, supervisor, shutdown, requests);
  } catch (error) {
    const reason: unknown = supervisor.hopeless.aborted ? supervisor.hopeless.reason : error;
    if (!requests.clean.aborted) {
      process.stderr.write(`${wordsOf(reason)}\n`);
      exitCode = 1;
    }
  }
  const problems = await shutdown.close();
  for (const { name, error } of problems) process.stderr.write(`Could not end ${name}: ${wordsOf(error)}\n`);
  if (exitCode === 0) print('Ended.');
  return exitCode;
}

async function run(
  env: CliEnv,
  dataDir: DataDir,
  supervisor: Supervisor,
  shutdown: Shutdown,
  requests: StopRequests,
): Promise<void> {
  const signal = AbortSignal.any([requests.clean, supervisor.hopeless]);
  await waitForProcessesToEnd((await findRuntimeFile(dataDir))?.processIds ?? [], print, signal);
  const ports = await choosePorts(env);
  const apiUrl = apiUrlOf(env.HOST, env.PORT);

  print(`Starting Kasgres on ${dataDir.path}.`);
  if (env.NODE_URL === undefined && !existsSync(dataDir.node)) {
    print('Simulating the past of a chain; this takes a moment.');
  }
  const database = env.DATABASE_URL ?? startPostgres(dataDir, ports.postgres, shutdown, requests);
  shutdown.add('the programs', () => supervisor.stop());
  const node = env.NODE_URL ?? startSimulatedNode(supervisor, dataDir, ports.node, signal);
  const [databaseUrl, nodeUrl] = await Promise.all([database, node]);
  supervisor.onProcess = () =>
    writeRuntimeFile(dataDir, { nodeUrl, databaseUrl, apiUrl, processIds: supervisor.processIds() });

  await migrate(databaseUrl);
  const demo = env.NODE_URL === undefined ? await readDemo(dataDir) : undefined;
  const isReal = env.NODE_URL !== undefined && env.DATABASE_URL !== undefined;
  const apiKey = isReal ? undefined : await prepareDatabase(databaseUrl, dataDir, demo);
  signal.throwIfAborted();

  startPrograms(env, supervisor, ports, nodeUrl, databaseUrl);
  // A simulated chain is short: better to wait until every question has an answer. A real one takes its time.
  const status = await waitUntilUsable(apiUrl, print, { everything: demo !== undefined }, signal);
  const command = commandInShell(env);
  for (const line of greetingLines({ apiUrl, status, command, logs: dataDir.logs, apiKey, demo })) print(line);
  await followIndex(apiUrl, print, status, signal);
}

function startPrograms(env: CliEnv, supervisor: Supervisor, ports: Ports, nodeUrl: string, databaseUrl: string): void {
  const shared = { NODE_URL: nodeUrl, DATABASE_URL: databaseUrl, LOG_LEVEL: env.LOG_LEVEL };
  supervisor.start({
    name: 'indexer',
    path: programPaths.indexer,
    env: { ...shared, METRICS_PORT: String(ports.indexerMetrics) },
  });
  // HTTPS is for an API that is run by itself: here it is asked on this machine, by a name that is in no certificate.
  const plain = { TLS_CERT_FILE: '', TLS_KEY_FILE: '' };
  supervisor.start({
    name: 'api',
    path: programPaths.api,
    env: { ...shared, ...plain, HOST: env.HOST, PORT: String(env.PORT), METRICS_PORT: String(ports.apiMetrics) },
  });
}

/** The address of an embedded Postgres that is ready, and is kept running. */
async function startPostgres(
  dataDir: DataDir,
  port: number,
  shutdown: Shutdown,
  requests: StopRequests,
): Promise<string> {
  const postgres = new KeptPostgres(dataDir.postgres, port, print);
  shutdown.add('Postgres', () => postgres.stop());
  requests.atOnce.addEventListener('abort', () => void postgres.endAtOnce());
  return postgres.url;
}

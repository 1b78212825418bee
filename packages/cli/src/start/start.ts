// `kasgres start`: everything that is needed, from nothing. What NODE_URL and DATABASE_URL do not name is brought along: a
// simulated node, an embedded Postgres. The programs are processes of their own (supervised-program.ts); this one starts
// them in order, restarts what may be restarted, tells a person how it goes, and ends them in the opposite order.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@kasgres/database';
import { Shutdown } from '@kasgres/runtime';
import { apiUrlOf } from '../api-status.ts';
import { printBlocking } from '../commands/migrate.ts';
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
import { type CheckedDatabase, openCheckedDatabase } from './checked-database.ts';
import { prepareDatabase, readDemo } from './demo.ts';
import { KeptPostgres } from './kept-postgres.ts';
import { takeLock } from './lock.ts';
import { checkChainOfSimulatedNode, checkFitsSimulatedNode, checkNodes } from './node-check.ts';
import { isOwnDatabase, rememberOwnDatabase } from './own-databases.ts';
import { choosePorts } from './ports.ts';
import type { Ports } from './ports.ts';
import { followIndex, waitUntilUsable } from './progress.ts';
import { startSimulatedNode } from './simulated-node.ts';
import { Supervisor } from './supervisor.ts';
import { waitForProcessesToEnd } from './wait-for-processes.ts';

const AT_ONCE_MS = 3_000;
/** Pages that somebody develops on this machine may call the demo. */
const DEMO_CORS_ORIGINS = ['http', 'https']
  .flatMap((scheme) => ['localhost', '127.0.0.1', '[::1]'].map((host) => `${scheme}://${host}:*`))
  .join();
/** How long the server of the database may take to notice that the indexer of an earlier start was killed. */
const RELEASE_PATIENCE_MS = 15_000;

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
  const earlier = await findRuntimeFile(dataDir);
  await waitForProcessesToEnd(earlier?.processIds ?? [], print, signal);
  const ports = await choosePorts(env);
  const apiUrl = apiUrlOf(env.HOST, env.PORT);

  print(`Starting Kasgres on ${dataDir.path}.`);
  const open = async (url: string): Promise<CheckedDatabase> => {
    const database = await openCheckedDatabase(url, {
      signal,
      patienceMs: earlier?.databaseUrl === url ? RELEASE_PATIENCE_MS : 0,
      onWait: () => print('Another indexer writes to the database; waiting for it to end.'),
    });
    shutdown.add('the lock of the database', database.release);
    return database;
  };
  const given = env.DATABASE_URL === undefined ? undefined : await open(env.DATABASE_URL);
  if (env.NODE_URL === undefined) {
    const hasSimulatedChain = existsSync(dataDir.node);
    if (given !== undefined) checkFitsSimulatedNode(given, hasSimulatedChain);
    if (!hasSimulatedChain) print('Simulating the past of a chain; this takes a moment.');
  }
  const opening = given ?? startPostgres(dataDir, ports.postgres, shutdown, requests).then(open);
  shutdown.add('the programs', () => supervisor.stop());
  const node = env.NODE_URL ?? startSimulatedNode(supervisor, dataDir, ports.node, signal);
  const [database, nodeUrl] = await Promise.all([opening, node]);
  const nodeUrls = nodeUrl.split(',');
  if (env.NODE_URL === undefined) await checkChainOfSimulatedNode(database, nodeUrl);
  else await checkNodes(nodeUrls, database, { say: print, signal });

  const { url: databaseUrl, state } = database;
  if (state.isUnused) await rememberOwnDatabase(dataDir, state.id);
  const isOwn = await isOwnDatabase(dataDir, state.id);
  const onMigration = (name: string): void => {
    if (!state.isUnused) print(`Migrating the schema of the database: ${name}.`);
  };
  if (state.pending.length > 0) await migrate(databaseUrl, { onMigration, onBlocked: printBlocking });
  const isReal = env.NODE_URL !== undefined && env.DATABASE_URL !== undefined;
  const demo = env.NODE_URL === undefined && isOwn ? await readDemo(dataDir) : undefined;
  const apiKey = isReal ? undefined : await prepareDatabase(databaseUrl, { dataDir, demo, isOwn });
  signal.throwIfAborted();
  await database.release();

  supervisor.onProcess = () =>
    writeRuntimeFile(dataDir, { nodeUrl, databaseUrl, apiUrl, processIds: supervisor.processIds() });

  startPrograms(env, supervisor, ports, nodeUrl, databaseUrl);
  // A simulated chain is short: better to wait until every request has an answer. A real one takes its time.
  const everything = env.NODE_URL === undefined;
  const progress = { apiUrl, apiLog: join(dataDir.logs, 'api.log'), nodeUrls, say: print, signal };
  const status = await waitUntilUsable(progress, { everything });
  const command = commandInShell(env);
  for (const line of greetingLines({ apiUrl, status, command, logs: dataDir.logs, apiKey, demo })) print(line);
  await followIndex(progress, status);
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
  const corsOrigins = process.env['CORS_ORIGINS'] || (env.NODE_URL === undefined ? DEMO_CORS_ORIGINS : '');
  supervisor.start({
    name: 'api',
    path: programPaths.api,
    env: {
      ...shared,
      ...plain,
      CORS_ORIGINS: corsOrigins,
      HOST: env.HOST,
      PORT: String(env.PORT),
      METRICS_PORT: String(ports.apiMetrics),
    },
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

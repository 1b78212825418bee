/**
 * `kasgres start` brings up everything: a simulated node unless NODE_URL is set, an embedded
 * Postgres unless DATABASE_URL is set, the schema, the indexer and the API. It starts these
 * processes in order, restarts them, prints progress, and stops them in reverse order.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@kasgres/database';
import { Shutdown, takeLock } from '@kasgres/runtime';
import { apiUrlOf, findExplorer } from '../api-status.ts';
import { printBlocking } from '../commands/migrate.ts';
import { type DataDir, findRuntimeFile, isOwnDatabase, makeDataDir, writeRuntimeFile } from '../data-dir.ts';
import type { CliEnv } from '../env.ts';
import { describeError } from '../error-message.ts';
import { print } from '../command-line.ts';
import { programPaths } from '../programs.ts';
import { type StopRequests, watchStopRequests } from '../stop-requests.ts';
import { type CheckedDatabase, openCheckedDatabase } from './checked-database.ts';
import { prepareDatabase, readDemo, startSimulatedNode } from './demo.ts';
import { commandInShell, greetingLines } from './greeting.ts';
import { checkChainOfSimulatedNode, checkFitsSimulatedNode, checkNodes } from './node-check.ts';
import { checkPorts, metricsPorts } from './ports.ts';
import { followIndex, waitUntilUsable } from './progress.ts';
import { SupervisedPostgres } from './supervised-postgres.ts';
import { type SupervisedProgram, Supervisor, waitForExit } from './supervisor.ts';

const EXIT_WITHIN_MS = 3_000;
/** So that everything can be tried without a key. */
const DEMO_ANONYMOUS_RATE_RU = '200';
/** Web pages under development on this machine may call the demo. */
const DEMO_CORS_ORIGINS = ['http', 'https']
  .flatMap((scheme) => ['localhost', '127.0.0.1', '[::1]'].map((host) => `${scheme}://${host}:*`))
  .join();
/** How long Postgres may take to notice that the indexer of the previous start was killed. */
const RELEASE_PATIENCE_MS = 15_000;

/** Runs until it is asked to stop, or until a program fails permanently. Returns the exit code. */
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
  requests.clean.addEventListener('abort', () => print('Stopping. Press Ctrl-C again to stop immediately.'));
  requests.immediate.addEventListener('abort', () => {
    supervisor.kill();
    // Postgres shuts down by itself when this process is gone.
    setTimeout(() => process.exit(130), EXIT_WITHIN_MS).unref();
  });
  let exitCode = 0;
  try {
    await run(env, dataDir, supervisor, shutdown, requests);
  } catch (error) {
    const reason: unknown = supervisor.failure.aborted ? supervisor.failure.reason : error;
    if (!requests.clean.aborted) {
      process.stderr.write(`${describeError(reason)}\n`);
      exitCode = 1;
    }
  }
  const problems = await shutdown.close();
  for (const { name, error } of problems) process.stderr.write(`Could not stop ${name}: ${describeError(error)}\n`);
  if (exitCode === 0) print('Stopped.');
  return exitCode;
}

async function run(
  env: CliEnv,
  dataDir: DataDir,
  supervisor: Supervisor,
  shutdown: Shutdown,
  requests: StopRequests,
): Promise<void> {
  const signal = AbortSignal.any([requests.clean, supervisor.failure]);
  const previous = await findRuntimeFile(dataDir);
  await waitForExit(previous?.processIds ?? [], print, signal);
  await checkPorts(env);
  const apiUrl = apiUrlOf(env.HOST, env.PORT);

  print(`Starting Kasgres on ${dataDir.path}.`);
  const open = async (url: string): Promise<CheckedDatabase> => {
    const database = await openCheckedDatabase(url, {
      signal,
      patienceMs: previous?.databaseUrl === url ? RELEASE_PATIENCE_MS : 0,
      onWait: () => print('Another indexer is writing to the database. Waiting for it to stop.'),
    });
    shutdown.add('the lock of the database', database.release);
    return database;
  };
  const given = env.DATABASE_URL === undefined ? undefined : await open(env.DATABASE_URL);
  if (env.NODE_URL === undefined) {
    const hasSimulatedChain = existsSync(dataDir.node);
    if (given !== undefined) checkFitsSimulatedNode(given, hasSimulatedChain);
    if (!hasSimulatedChain) print('Simulating a chain with a past. This takes a moment.');
  }
  const addresses: Addresses = { nodeUrl: env.NODE_URL ?? '', databaseUrl: env.DATABASE_URL ?? '' };
  const programs: SupervisedProgram[] = [];
  const recordRuntime = (): void =>
    writeRuntimeFile(dataDir, { ...addresses, apiUrl, processIds: supervisor.processIds() });
  const setAddress = (of: keyof Addresses, url: string): void => {
    const hasMoved = addresses[of] !== '' && addresses[of] !== url;
    addresses[of] = url;
    if (!hasMoved || programs.length === 0) return;
    // Other commands read the new port from the runtime file before the indexer and the API have
    // restarted.
    recordRuntime();
    const name = of === 'nodeUrl' ? 'the simulated node' : 'Postgres';
    print(`Another program has taken the port of ${name}. Restarting the indexer and the API with its new port.`);
    for (const program of programs) program.restart();
  };
  const startPostgres = (): Promise<string> => {
    const postgres = new SupervisedPostgres(dataDir.postgres, {
      print,
      onUrl: (url) => setAddress('databaseUrl', url),
    });
    shutdown.add('Postgres', () => postgres.stop({ immediate: false }));
    requests.immediate.addEventListener('abort', () => void postgres.stop({ immediate: true }));
    return postgres.url;
  };
  const opening = given ?? startPostgres().then(open);
  shutdown.add('the programs', () => supervisor.stop());
  const node =
    env.NODE_URL ?? startSimulatedNode(supervisor, dataDir, { onUrl: (url) => setAddress('nodeUrl', url), signal });
  const [database, nodeUrl] = await Promise.all([opening, node]);
  if (env.NODE_URL === undefined) await checkChainOfSimulatedNode(database, nodeUrl);
  else await checkNodes(nodeUrl.split(','), database, { print, signal });

  const { url: databaseUrl, state } = database;
  const isOwn = await isOwnDatabase(dataDir, state);
  const onMigration = (name: string): void => {
    if (!state.isUnused) print(`Migrating the schema of the database: ${name}.`);
  };
  if (state.pending.length > 0) await migrate(databaseUrl, { onMigration, onBlocked: printBlocking, signal });
  const isReal = env.NODE_URL !== undefined && env.DATABASE_URL !== undefined;
  const demo = env.NODE_URL === undefined && isOwn ? await readDemo(dataDir) : undefined;
  const apiKey = isReal ? undefined : await prepareDatabase(databaseUrl, { dataDir, demo, isOwn });
  signal.throwIfAborted();
  await database.release();

  supervisor.onProcess = recordRuntime;

  programs.push(...startPrograms(env, supervisor, addresses));
  const progress = {
    apiUrl,
    apiLog: join(dataDir.logs, 'api.log'),
    get nodeUrls() {
      return addresses.nodeUrl.split(',');
    },
    print,
    signal,
  };
  // A simulated chain is short, so `start` waits until it is indexed. A real chain takes hours.
  const status = await waitUntilUsable(progress, env.NODE_URL === undefined);
  const command = commandInShell(env);
  const hasExplorer = await findExplorer(apiUrl);
  const facts = { apiUrl, status, command, logs: dataDir.logs, apiKey, demo, hasExplorer };
  for (const line of greetingLines(facts)) print(line);
  await followIndex(progress, status);
}

/** Where the programs find the node and the database. */
interface Addresses {
  nodeUrl: string;
  databaseUrl: string;
}

/** @param addresses are read again at each restart */
function startPrograms(env: CliEnv, supervisor: Supervisor, addresses: Addresses): SupervisedProgram[] {
  const shared = (program: 'api' | 'indexer') => ({
    NODE_URL: addresses.nodeUrl,
    DATABASE_URL: addresses.databaseUrl,
    LOG_LEVEL: env.LOG_LEVEL,
    METRICS_PORT: String(metricsPorts(env.METRICS_PORT)[program]),
  });
  const indexer = supervisor.start({
    name: 'indexer',
    path: programPaths.indexer,
    env: () => shared('indexer'),
  });
  const api = supervisor.start({
    name: 'api',
    path: programPaths.api,
    env: () => ({
      ...shared('api'),
      // This API is called on this machine, by a name that no certificate contains, so it does not
      // serve HTTPS.
      TLS_CERT_FILE: '',
      TLS_KEY_FILE: '',
      ANONYMOUS_RATE_RU: process.env['ANONYMOUS_RATE_RU'] || (env.NODE_URL === undefined ? DEMO_ANONYMOUS_RATE_RU : ''),
      CORS_ORIGINS: process.env['CORS_ORIGINS'] || (env.NODE_URL === undefined ? DEMO_CORS_ORIGINS : ''),
      HOST: env.HOST,
      API_WORKERS: '1',
      PORT: String(env.PORT),
    }),
  });
  return [indexer, api];
}

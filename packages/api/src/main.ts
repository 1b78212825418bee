/** The API as a process: answers HTTP requests from the database and the node until it is told to stop. */
import { checkSchema, type Connection, connect } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import {
  backoff,
  createLogger,
  createRegistry,
  FatalError,
  type Logger,
  readEnv,
  runProgram,
  sleep,
  startProbes,
  untilAborted,
} from '@kasgres/runtime';
import { envSchema } from './env.ts';
import { toHttpError } from './http/outages.ts';
import type { IndexReader } from './index-state/state.ts';
import { createMetrics, watchPool } from './metrics.ts';
import { createServer } from './server.ts';
import { createServices } from './services.ts';

/** A query that takes longer is given up: no request hangs. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** For a database that does not even say so. */
const QUERY_TIMEOUT_MS = 12_000;
const CONNECT_TIMEOUT_MS = 3000;
const NODE_DEADLINE_MS = 5000;

await runProgram('api', async ({ signal, shutdown, useLogger }) => {
  const env = readEnv(envSchema, process.env);
  const logger = createLogger({ name: 'api', level: env.LOG_LEVEL });
  useLogger(logger);

  const openDatabase = (url: string, max: number): Connection => {
    const connection = connect({
      url,
      max,
      applicationName: 'kasgres api',
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      queryTimeoutMs: QUERY_TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      onIdleError: (error) => logger.warn({ reason: error.message }, 'lost a database connection'),
    });
    shutdown.add('database', connection.close);
    return connection;
  };
  const database = openDatabase(env.DATABASE_URL, env.DATABASE_CONNECTIONS);
  const replica = env.DATABASE_READ_URL && openDatabase(env.DATABASE_READ_URL, env.DATABASE_CONNECTIONS);
  const readDatabase = replica || database;

  const node = new NodeClient({ url: env.NODE_URL, deadlineMs: NODE_DEADLINE_MS, logger });
  shutdown.add('node', () => node.close());
  const services = createServices({ database: database.kysely, readDatabase: readDatabase.kysely, node, logger });
  shutdown.add('usage', () => services.usage.close());

  const registry = createRegistry('api');
  watchPool(registry, readDatabase.pool);
  const server = await createServer({ services, logger, metrics: createMetrics(registry) });
  shutdown.add('server', () => server.close());
  await server.listen({ host: env.HOST, port: env.PORT });

  const probes = await startProbes({
    host: env.METRICS_HOST,
    port: env.METRICS_PORT,
    registry,
    ready: () => services.index.read(async () => ({ ready: true })),
    signal,
  });
  shutdown.add('probes', probes.close);

  // It listens already: until the database can be used, the answers say so.
  await checkOnceReachable(() => checkSchema(readDatabase.pool), logger, signal);
  await checkOnceReachable(() => checkNetwork(services.index, node), logger, signal);
  await untilAborted(signal);
});

/** Runs a check as soon as what it needs can be reached. @throws FatalError, which ends the program, when it fails */
async function checkOnceReachable(check: () => Promise<void>, logger: Logger, signal: AbortSignal): Promise<void> {
  for (const pauseMs of backoff()) {
    try {
      return await check();
    } catch (error) {
      if (error instanceof FatalError || toHttpError(error) === undefined) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ reason, pauseMs }, 'could not check yet what the answers come from');
    }
    await sleep(pauseMs, signal);
  }
}

/** A node of another network would answer for other coins. */
async function checkNetwork(index: IndexReader, node: NodeClient): Promise<void> {
  const network = await index.getNetwork();
  const { networkId } = await node.call('getServerInfo', {});
  if (networkId !== network.id) {
    throw new FatalError(
      `The database is of ${network.id}, and the node at NODE_URL of ${networkId}: one of them is wrong.`,
    );
  }
}

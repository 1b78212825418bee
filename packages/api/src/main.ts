/** The API as a process: serves HTTP until it is stopped. */
import type { Server as HttpsServer } from 'node:https';
import { type Connection, checkSchema, SchemaError } from '@kasgres/database';
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
import { CONNECTIONS, openDatabase, openRateLimitDatabase } from './database.ts';
import { envSchema } from './env.ts';
import { type Certificate, readCertificate, renewCertificate } from './http/certificate.ts';
import { toHttpError, unavailable } from './http/errors.ts';
import { findReplicaLag, type IndexReader } from './index-state/state.ts';
import { PostgresWindows } from './limits/postgres-windows.ts';
import { MemoryWindows, type Windows } from './limits/windows.ts';
import { createMetrics, watchDependencies } from './metrics.ts';
import { NodePool, type PooledNode } from './node-pool.ts';
import { createServer } from './server.ts';
import { createServices } from './services.ts';

await runProgram('api', async ({ signal, shutdown, useLogger }) => {
  const env = readEnv(envSchema, process.env);
  const logger = createLogger({ name: 'api', level: env.LOG_LEVEL });
  useLogger(logger);
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = env;
  const certificateFiles = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
  const certificate = certificateFiles && (await readCertificate(certificateFiles));

  const onIdleError = (error: Error): void => logger.warn({ reason: error.message }, 'lost a database connection');
  const open = (name: string, url: string, max: number, onError = onIdleError): Connection => {
    const connection = openDatabase({ url, max, onIdleError: onError });
    shutdown.add(`${name} database`, connection.close);
    return connection;
  };
  const url = env.DATABASE_URL;
  const readUrl = env.DATABASE_READ_URL ?? url;
  const database = open('key', url, CONNECTIONS.keys);
  const unknownKeysDatabase = open('unknown key', url, CONNECTIONS.unknownKeys);
  const readDatabase = open('read', readUrl, env.DATABASE_CONNECTIONS);
  const statusDatabase = open('status', readUrl, CONNECTIONS.status, (error) => {
    onIdleError(error);
    // The next status must show the outage.
    services.status.forget();
  });

  const registry = createRegistry('api');
  const metrics = createMetrics(registry);
  let windows: Windows = new MemoryWindows();
  if (env.RATE_LIMIT_STORE === 'postgres') {
    const shared = openRateLimitDatabase({ url, onIdleError });
    shutdown.add('rate limits', shared.close);
    windows = new PostgresWindows(shared.pool, (error) => {
      metrics.rateLimitStoreFailures.inc();
      logger.warn({ reason: String(error) }, 'could not charge shared rate limits');
    });
  }

  const node = new NodePool(env.NODE_URL, logger);
  shutdown.add('node', () => node.close());
  const services = createServices({
    database: database.kysely,
    unknownKeysDatabase: unknownKeysDatabase.kysely,
    readDatabase,
    readConnections: env.DATABASE_CONNECTIONS,
    statusDatabase,
    node,
    windows,
    logger,
  });
  watchDependencies(registry, {
    pool: readDatabase.pool,
    queue: services.readQueue,
    node,
    findReplicaLag: () => findReplicaLag(statusDatabase.kysely),
  });
  shutdown.add('usage', () => services.limits.close());
  shutdown.add('keys', async () => services.keys.close());

  const server = await createServer({ services, logger, metrics, certificate, corsOrigins: env.CORS_ORIGINS });
  const probes = await startProbes({
    host: env.METRICS_HOST,
    port: env.METRICS_PORT,
    registry,
    ready: async () => {
      if (!server.server.listening) return { ready: false, reason: 'not listening yet' };
      return services.statusIndex.read(async () => ({ ready: true }));
    },
    signal,
  });
  // Closed after the server, so that readiness is served until the last response has been sent.
  shutdown.add('probes', probes.close);
  shutdown.add('server', () => server.close());

  if (certificateFiles && certificate) {
    const onRenewed = ({ expiresAt }: Certificate): void => metrics.certificateExpiry.set(expiresAt.getTime() / 1000);
    onRenewed(certificate);
    // With a certificate, this is an HTTPS server.
    const httpsServer = server.server as HttpsServer;
    const stop = renewCertificate({ server: httpsServer, files: certificateFiles, certificate, onRenewed, logger });
    shutdown.add('certificate', async () => stop());
  }
  await server.listen({ host: env.HOST, port: env.PORT });

  // The server is listening already: until the database is available, responses are a 503.
  await checkOnceReachable(() => checkSchemas(database, readDatabase), logger, signal);
  const networkChecks = node.nodes.map((one) =>
    checkOnceReachable(() => checkNetwork(services.index, node, one, logger), logger, signal),
  );
  await Promise.all(networkChecks);
  await untilAborted(signal);
});

/** Retries a check during outages. @throws FatalError, which stops the program, if the check fails */
async function checkOnceReachable(check: () => Promise<void>, logger: Logger, signal: AbortSignal): Promise<void> {
  for (const pauseMs of backoff()) {
    try {
      return await check();
    } catch (error) {
      if (error instanceof FatalError || toHttpError(error) === undefined) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ reason, pauseMs }, 'could not check database and node, retrying');
    }
    await sleep(pauseMs, signal);
  }
}

/** A replica gets a new schema some time after its primary, so a missing schema is fatal only if the primary lacks it, too. */
async function checkSchemas(primary: Connection, readFrom: Connection): Promise<void> {
  try {
    await checkSchema(readFrom.pool);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    await checkSchema(primary.pool);
    throw unavailable('The replica does not have the schema of its primary yet', 2, error);
  }
}

/** Excludes a node of another network. @throws FatalError if it is the only node */
async function checkNetwork(index: IndexReader, pool: NodePool, node: PooledNode, logger: Logger): Promise<void> {
  const network = await index.getNetwork();
  const { networkId } = await node.client.call('getServerInfo', {});
  if (networkId === network.id) return;
  if (await pool.exclude(node)) {
    logger.error({ node: node.name, networkId }, `excluded node: the database is of ${network.id}`);
    return;
  }
  throw new FatalError(
    `The database is of ${network.id}, but the node at NODE_URL is of ${networkId}: correct DATABASE_URL or NODE_URL.`,
  );
}

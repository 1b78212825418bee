/** Serves the HTTP port in this process, the only one or one of several workers. */
import cluster from 'node:cluster';
import type { Server as HttpsServer } from 'node:https';
import { checkLogin, checkSchema, type Connection, SchemaError } from '@kasgres/database';
import { findReplicaLag, type IndexReader, openDatabase, unavailable } from '@kasgres/reads';
import {
  FatalError,
  type Logger,
  type Program,
  type Readiness,
  readFileLimit,
  type Registry,
  retry,
  toListenError,
  untilAborted,
} from '@kasgres/runtime';
import { secretBoxOpener } from '@kasgres/webhooks';
import type { Env } from './env.ts';
import { readExplorerFiles } from './explorer/files.ts';
import { type Certificate, readCertificate, renewCertificate } from './http/certificate.ts';
import { listenersFor, roomForConnections } from './http/connections.ts';
import { CONNECTIONS, connectionsPerWorker } from './limits/connections.ts';
import { listen } from './http/listen.ts';
import { toHttpError } from './http/to-http-error.ts';
import { openAdmission } from './limits/open-admission.ts';
import { createMetrics, watchDependencies, watchStreams } from './metrics/metrics.ts';
import { CONNECTIONS_PER_NODE } from './node/node-calls.ts';
import { NodePool, type PooledNode } from './node/node-pool.ts';
import { createServer } from './server.ts';
import { createServices } from './services.ts';

interface ServeOptions {
  program: Pick<Program, 'signal' | 'shutdown'>;
  env: Env;
  logger: Logger;
  registry: Registry;
  /**
   * Receives the readiness check before the server listens. Parts that it adds to the shutdown are
   * closed after the server.
   */
  onServer: (ready: () => Promise<Readiness>) => Promise<void> | void;
}

/**
 * Resolves when the program is to stop.
 * @throws FatalError if the database or the node are not the right ones
 */
export async function serve({ program, env, logger, registry, onServer }: ServeOptions): Promise<void> {
  const { signal, shutdown } = program;
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, API_WORKERS: workers } = env;
  const certificateFiles = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
  const certificate = certificateFiles && (await readCertificate(certificateFiles));

  const onIdleError = (error: Error): void => logger.warn({ reason: error.message }, 'lost a database connection');
  const readUrl = env.DATABASE_READ_URL ?? env.DATABASE_URL;
  const open = (name: string, max: number, onError = onIdleError): Connection => {
    const connection = openDatabase({ url: readUrl, max, onIdleError: onError });
    shutdown.add(`${name} database`, connection.close);
    return connection;
  };
  const fileLimit = readFileLimit();
  const readConnections = connectionsPerWorker(env.DATABASE_CONNECTIONS, workers);
  const readDatabase = open('read', readConnections);
  const statusDatabase = open('status', CONNECTIONS.status, (error) => {
    onIdleError(error);
    // The next status must show the outage.
    services.status.forget();
  });
  const node = new NodePool(env.NODE_URL, logger);
  shutdown.add('node', () => node.close());
  const explorer = env.EXPLORER ? await readExplorerFiles() : undefined;
  if (env.EXPLORER && explorer === undefined)
    logger.warn('the explorer is not built, so / redirects to /docs: run `npm run prepare`');
  const primary = openDatabase({ url: env.DATABASE_URL, max: CONNECTIONS.webhooks, onIdleError });
  shutdown.add('webhooks database', primary.close);
  const services = createServices({
    explorer,
    admission: openAdmission({ env, logger, registry, shutdown }),
    readDatabase,
    readConnections,
    statusDatabase,
    node,
    workers,
    databaseUrl: env.DATABASE_URL,
    logger,
    streamConnections: env.STREAM_CONNECTIONS,
    isAnonymousAllowed: env.ANONYMOUS_RATE_RU !== undefined,
    webhooks: {
      database: primary,
      openSecrets: secretBoxOpener({ secretKey: env.WEBHOOK_SECRET_KEY, dataDir: env.DATA_DIR }),
      allowed: env.WEBHOOK_ALLOW ?? [],
    },
  });
  shutdown.add('follower of streams', () => services.streams.close());
  watchDependencies(registry, {
    pool: readDatabase.pool,
    queue: services.readQueue,
    node,
    findReplicaLag: () => findReplicaLag(statusDatabase.kysely),
  });

  const metrics = createMetrics(registry);
  watchStreams(registry, services.streams);
  const server = await createServer({
    services,
    logger,
    metrics,
    certificate,
    corsOrigins: env.CORS_ORIGINS,
    trustProxy: env.TRUST_PROXY,
    workers,
    room: roomForConnections({
      fileLimit,
      readConnections,
      nodeConnections: env.NODE_URL.length * CONNECTIONS_PER_NODE,
    }),
  });
  await onServer(async () => {
    if (!server.server.listening) return { ready: false, reason: 'not listening yet' };
    return services.statusIndex.read(async () => ({ ready: true }));
  });
  shutdown.add('server', () => {
    services.streams.end();
    return server.close();
  });

  if (certificateFiles && certificate) {
    const onRenewed = ({ expiresAt }: Certificate): void => metrics.certificateExpiry.set(expiresAt.getTime() / 1000);
    onRenewed(certificate);
    // With a certificate, this is an HTTPS server.
    const httpsServer = server.server as HttpsServer;
    const stop = renewCertificate({ server: httpsServer, files: certificateFiles, certificate, onRenewed, logger });
    shutdown.add('certificate', async () => stop());
  }
  const { level } = server.log;
  // The primary process logs the address once.
  if (cluster.isWorker) server.log.level = 'warn';
  await listen(server, { host: env.HOST, port: env.PORT, sockets: listenersFor(fileLimit) }).catch((error: unknown) => {
    throw toListenError(error, { host: env.HOST, port: env.PORT, variable: 'PORT' });
  });
  server.log.level = level;

  // The server is listening already: until the database is available, responses are a 503.
  await Promise.all([readDatabase, primary].map(({ pool }) => checkLogin(pool)));
  await checkOnceReachable(() => checkSchemas(readDatabase, env.DATABASE_URL), logger, signal);
  const networkChecks = node.nodes.map((one) =>
    checkOnceReachable(() => checkNetwork(services.index, node, one, logger), logger, signal),
  );
  await Promise.all(networkChecks);
  await untilAborted(signal);
}

/**
 * Retries a check during outages.
 * @throws FatalError, which stops the program, if the check fails
 */
async function checkOnceReachable(check: () => Promise<void>, logger: Logger, signal: AbortSignal): Promise<void> {
  const onFailure = (error: unknown, pauseMs: number): void => {
    if (error instanceof FatalError || toHttpError(error) === undefined) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ reason, pauseMs }, 'could not check database and node, retrying');
  };
  await retry(check, { signal, onFailure });
}

/**
 * A replica gets a new schema some time after its primary, so a missing schema is fatal only if the
 * primary lacks it, too.
 */
async function checkSchemas(readFrom: Connection, primaryUrl: string): Promise<void> {
  try {
    await checkSchema(readFrom.pool);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const primary = openDatabase({ url: primaryUrl, max: 1, onIdleError: () => undefined });
    try {
      await checkSchema(primary.pool);
    } finally {
      await primary.close();
    }
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

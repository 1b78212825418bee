/** The API as a process: answers HTTP requests from the database and the node until it is told to stop. */
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
import {
  openDatabase,
  openKeyDatabase,
  openRateLimitDatabase,
  openStatusDatabase,
  openUnknownKeyDatabase,
} from './database.ts';
import { type Env, envSchema } from './env.ts';
import { type Certificate, type CertificateFiles, CertificateRenewal, readCertificate } from './http/certificate.ts';
import { unavailable } from './http/errors.ts';
import { toHttpError } from './http/outages.ts';
import { findReplicaLag } from './index-state/replica-lag.ts';
import type { IndexReader } from './index-state/state.ts';
import { MemoryWindows } from './limits/memory-windows.ts';
import { PostgresWindows } from './limits/postgres-windows.ts';
import type { Windows } from './limits/windows.ts';
import { createMetrics, watchNode, watchPool, watchReplicaLag } from './metrics.ts';
import { NODE_STREAMS } from './node-calls.ts';
import { NodePool, type PooledNode } from './node-pool.ts';
import { createServer } from './server.ts';
import { createServices } from './services.ts';

const NODE_DEADLINE_MS = 5000;
/** Far above the largest block template, and what the entries of a mempool take that are listed at once. */
const NODE_RECEIVE_LIMIT_BYTES = 128 * 1024 * 1024;

await runProgram('api', async ({ signal, shutdown, useLogger }) => {
  const env = readEnv(envSchema, process.env);
  const logger = createLogger({ name: 'api', level: env.LOG_LEVEL });
  useLogger(logger);
  const certificateFiles = certificateFilesOf(env);
  const certificate = certificateFiles && (await readCertificate(certificateFiles));

  const onIdleError = (error: Error): void => logger.warn({ reason: error.message }, 'lost a database connection');
  const database = openKeyDatabase({ url: env.DATABASE_URL, onIdleError });
  shutdown.add('database', database.close);
  const unknownKeysDatabase = openUnknownKeyDatabase({ url: env.DATABASE_URL, onIdleError });
  shutdown.add('database for unknown keys', unknownKeysDatabase.close);
  const readDatabase = openDatabase({
    url: env.DATABASE_READ_URL ?? env.DATABASE_URL,
    max: env.DATABASE_CONNECTIONS,
    onIdleError,
  });
  shutdown.add('database to read from', readDatabase.close);
  const statusDatabase = openStatusDatabase({
    url: env.DATABASE_READ_URL ?? env.DATABASE_URL,
    onIdleError: (error) => {
      onIdleError(error);
      // The status is to tell of an outage at once.
      services.status.forget();
    },
  });
  shutdown.add('database for the status', statusDatabase.close);

  const registry = createRegistry('api');
  const metrics = createMetrics(registry);
  watchReplicaLag(registry, () => findReplicaLag(statusDatabase.kysely));

  let windows: Windows = new MemoryWindows();
  if (env.RATE_LIMIT_STORE === 'postgres') {
    const shared = openRateLimitDatabase({ url: env.DATABASE_URL, onIdleError });
    shutdown.add('rate limits', shared.close);
    windows = new PostgresWindows(shared.pool, (error) => {
      metrics.rateLimitStoreFailures.inc();
      logger.warn({ reason: String(error) }, 'could not charge shared rate limits');
    });
  }

  const node = new NodePool({
    urls: env.NODE_URL,
    client: { streams: NODE_STREAMS, deadlineMs: NODE_DEADLINE_MS, receiveLimitBytes: NODE_RECEIVE_LIMIT_BYTES },
    logger,
  });
  shutdown.add('node', () => node.close());
  watchNode(registry, node);
  const services = createServices({
    database: database.kysely,
    unknownKeysDatabase: unknownKeysDatabase.kysely,
    readDatabase: readDatabase.kysely,
    readConnections: env.DATABASE_CONNECTIONS,
    statusDatabase: statusDatabase.kysely,
    node,
    windows,
    logger,
  });
  watchPool(registry, readDatabase.pool, services.readQueue);
  shutdown.add('usage', () => services.limits.close());
  shutdown.add('keys', async () => services.keys.close());

  const server = await createServer({
    services,
    logger,
    metrics,
    ...(certificate && { certificate }),
    ...(env.CORS_ORIGINS && { corsOrigins: env.CORS_ORIGINS }),
  });
  const probes = await startProbes({
    host: env.METRICS_HOST,
    port: env.METRICS_PORT,
    registry,
    ready: async () => {
      if (!server.server.listening) return { ready: false, reason: 'does not listen yet' };
      return services.statusIndex.read(async () => ({ ready: true }));
    },
    signal,
  });
  // Before the server, which is closed first: readiness can be asked for until the last answer is out.
  shutdown.add('probes', probes.close);
  shutdown.add('server', () => server.close());

  if (certificateFiles && certificate) {
    const onCertificate = ({ expiresAt }: Certificate) => metrics.certificateExpiry.set(expiresAt.getTime() / 1000);
    onCertificate(certificate);
    // With a certificate the server is one of HTTPS.
    const https = server.server as HttpsServer;
    const renewal = new CertificateRenewal({
      server: https,
      files: certificateFiles,
      certificate,
      onRenewed: onCertificate,
      logger,
    });
    shutdown.add('certificate', () => renewal.close());
  }
  await server.listen({ host: env.HOST, port: env.PORT });

  // It listens already: until the database can be used, the answers say so.
  await checkOnceReachable(() => checkSchemas(database, readDatabase), logger, signal);
  const networkChecks = node.nodes.map((one) =>
    checkOnceReachable(() => checkNetwork(services.index, node, one, logger), logger, signal),
  );
  await Promise.all(networkChecks);
  await untilAborted(signal);
});

function certificateFilesOf({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Env): CertificateFiles | undefined {
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
}

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

/** A replica has a new schema some time after its primary: only where both are without it does somebody have to migrate. */
async function checkSchemas(primary: Connection, readFrom: Connection): Promise<void> {
  try {
    await checkSchema(readFrom.pool);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    await checkSchema(primary.pool);
    throw unavailable('The replica does not have the schema of its primary yet', 2, error);
  }
}

/** A node of another network would answer for other coins. It is left out where there are others. */
async function checkNetwork(index: IndexReader, pool: NodePool, node: PooledNode, logger: Logger): Promise<void> {
  const network = await index.getNetwork();
  const { networkId } = await node.client.call('getServerInfo', {});
  if (networkId === network.id) return;
  if (await pool.exclude(node)) {
    logger.error({ node: node.name, networkId }, `the database is of ${network.id}: this node is not asked`);
    return;
  }
  throw new FatalError(
    `The database is of ${network.id}, and the node at NODE_URL of ${networkId}: one of them is wrong.`,
  );
}

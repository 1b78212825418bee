/** The indexer: follows a node and writes what it sees to Postgres, until it is told to stop. */
import { NodeClient } from '@kasgres/node';
import { createLogger, createRegistry, readEnv, runProgram, startProbes } from '@kasgres/runtime';
import { openDatabase } from './database.ts';
import { envSchema, indexerOptions } from './env.ts';
import { createMetrics } from './metrics.ts';
import { Progress } from './progress.ts';
import { keepFollowing } from './keep-following.ts';

await runProgram('indexer', async ({ signal, shutdown, useLogger }) => {
  const env = readEnv(envSchema, process.env);
  const log = createLogger({ name: 'indexer', level: env.LOG_LEVEL });
  useLogger(log);

  const database = openDatabase(env.DATABASE_URL);
  shutdown.add('database', database.close);
  const node = new NodeClient({ url: env.NODE_URL, streams: 1 + env.PAGE_STREAMS, logger: log });
  shutdown.add('node', () => node.close());

  const registry = createRegistry('indexer');
  const status = { isFollowing: false };
  const probes = await startProbes({
    host: env.METRICS_HOST,
    port: env.METRICS_PORT,
    registry,
    ready: () => (status.isFollowing ? { ready: true } : { ready: false, reason: 'does not follow the chain yet' }),
    signal,
  });
  shutdown.add('probes', probes.close);

  await keepFollowing(
    {
      node,
      database,
      expectedNetwork: env.NETWORK,
      options: indexerOptions(env),
      log,
      progress: new Progress(log),
      metrics: createMetrics(registry),
      status,
    },
    signal,
  );
});

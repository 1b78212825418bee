import { checkLogin } from '@kasgres/database';
import { createLogger, createRegistry, readEnv, readFileLimit, runProgram, startProbes } from '@kasgres/runtime';
import { keepClustering } from './clustering/keep-clustering.ts';
import { openClusteringDatabase, openDatabase } from './database.ts';
import { clusteringOptions, envSchema, indexerOptions, REPLACED_VARIABLES } from './env.ts';
import { createMetrics } from './metrics.ts';
import { checkFileLimit } from './file-limit.ts';
import { importTemplateNames } from './import-template-names.ts';
import { keepInscriptions } from './inscriptions/backfill.ts';
import type { IndexerOptions } from './dependencies.ts';
import { NodeChoice } from './node-choice.ts';
import { Progress } from './progress.ts';
import { runIndexer } from './run-indexer.ts';
import { watchAnalysts } from './watch-analysts.ts';
import { watchNotificationQueue } from './watch-notification-queue.ts';

/**
 * Runs until a signal or a fatal error. Tests override options that follow from the memory limit.
 */
export function runIndexerProgram(overrides: Partial<IndexerOptions> = {}): Promise<void> {
  return runProgram('indexer', async ({ signal, shutdown, useLogger }) => {
    const env = readEnv(envSchema, process.env, REPLACED_VARIABLES);
    const options = { ...indexerOptions(env), ...overrides };
    const log = createLogger({ name: 'indexer', level: env.LOG_LEVEL });
    useLogger(log);
    checkFileLimit(readFileLimit());

    const database = openDatabase(env.DATABASE_URL);
    shutdown.add('database', database.close);

    const registry = createRegistry('indexer');
    const metrics = createMetrics(registry);
    const nodes = new NodeChoice({ urls: env.NODE_URL, client: { streams: 1 + options.pageStreams }, log, metrics });
    shutdown.add('node', () => nodes.close());
    const status = { isFollowing: false };
    const probes = await startProbes({
      host: env.METRICS_HOST,
      port: env.METRICS_PORT,
      registry,
      logger: log,
      ready: () => (status.isFollowing ? { ready: true } : { ready: false, reason: 'not following the chain' }),
      signal,
    });
    shutdown.add('probes', probes.close);
    await checkLogin(database.pool);

    const clusteringDatabase = openClusteringDatabase(env.DATABASE_URL);
    shutdown.add('database of clustering', clusteringDatabase.close);
    const finished = new AbortController();
    const untilFinished = AbortSignal.any([signal, finished.signal]);
    void watchAnalysts({ database, log }, untilFinished);
    void watchNotificationQueue({ database, log, metrics }, untilFinished);
    void importTemplateNames({ database, log }, untilFinished);
    const inscriptions = keepInscriptions({ database, log }, untilFinished);
    const clustering = keepClustering(
      { database: clusteringDatabase, options: clusteringOptions(env), log, metrics: metrics.clustering },
      untilFinished,
    );
    try {
      await runIndexer(
        { nodes, database, expectedNetwork: env.NETWORK, options, log, progress: new Progress(log), metrics, status },
        signal,
      );
    } finally {
      finished.abort();
      await Promise.all([clustering, inscriptions]);
    }
  });
}

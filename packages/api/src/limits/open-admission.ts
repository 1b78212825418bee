/**
 * Opens what keys and their limits need: connections for keys and usage, and the store of windows.
 */
import type { Connection } from '@kasgres/database';
import { openDatabase } from '@kasgres/reads';
import type { Logger, Registry, Shutdown } from '@kasgres/runtime';
import type { Env } from '../env.ts';
import { CONNECTIONS, openRateLimitDatabase } from './connections.ts';
import { createRateLimitStoreFailures } from '../metrics/metrics.ts';
import { Admission } from './admission.ts';
import { PostgresWindows } from './postgres-windows.ts';
import { MemoryWindows, type Windows } from './windows.ts';

interface Options {
  env: Env;
  logger: Logger;
  registry: Registry;
  shutdown: Shutdown;
}

export function openAdmission({ env, logger, registry, shutdown }: Options): Admission {
  const url = env.DATABASE_URL;
  const onIdleError = (error: Error): void => logger.warn({ reason: error.message }, 'lost a database connection');
  const open = (name: string, max: number): Connection => {
    const connection = openDatabase({ url, max, onIdleError });
    shutdown.add(`${name} database`, connection.close);
    return connection;
  };
  const database = open('key', CONNECTIONS.keys).kysely;
  const unknownKeysDatabase = open('unknown key', CONNECTIONS.unknownKeys).kysely;
  const failures = createRateLimitStoreFailures(registry);
  let windows: Windows = new MemoryWindows();
  // With workers, memory is not a valid store (env.ts).
  if (env.RATE_LIMIT_STORE === 'postgres' || env.API_WORKERS > 1) {
    const shared = openRateLimitDatabase({ url, onIdleError });
    shutdown.add('rate limits', shared.close);
    windows = new PostgresWindows(shared.pool, (error) => {
      failures.inc();
      logger.warn({ reason: String(error) }, 'could not charge shared rate limits');
    });
  }
  const admission = new Admission({
    database,
    unknownKeysDatabase,
    windows,
    logger,
    anonymousRateRu: env.ANONYMOUS_RATE_RU,
  });
  shutdown.add('usage', () => admission.close());
  return admission;
}

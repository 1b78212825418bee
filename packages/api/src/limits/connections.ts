/** Database connections of the API beside those for responses. */
import { type Connection, connect } from '@kasgres/database';
import { type DatabaseOptions, PLANNER_SETTINGS } from '@kasgres/reads';

/** Returns how many of the connections for responses each worker has. */
export const connectionsPerWorker = (connections: number, workers: number): number =>
  workers === 1 ? connections : Math.max(Math.floor(connections / workers), 2);

/** Sizes of the pools beside the one for responses, which must not wait for responses. */
export const CONNECTIONS = {
  keys: 2,
  /** Keys that are not cached are looked up with one query at a time (limits/key-cache.ts). */
  unknownKeys: 1,
  /** For the status, readiness, and the replica lag in metrics. */
  status: 2,
  /** On the primary, opened with the first request about webhooks. */
  webhooks: 2,
} as const;

const RATE_LIMIT_TIMEOUT_MS = 1000;

export function openRateLimitDatabase({ url, onIdleError }: Omit<DatabaseOptions, 'max'>): Connection {
  return connect({
    url,
    // One charges with one statement at a time (limits/postgres-windows.ts); the other one refunds
    // and sweeps.
    max: 2,
    applicationName: 'kasgres api rate limits',
    // A plan is made while the table has few rows, and kept when it has many.
    settings: { plan_cache_mode: PLANNER_SETTINGS.plan_cache_mode, enable_seqscan: 'off' },
    statementTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    queryTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    connectTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    onIdleError,
  });
}

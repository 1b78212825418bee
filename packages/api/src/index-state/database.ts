/** Connects to the database with limits, so that no request hangs. */
import { type Connection, connect } from '@kasgres/database';

/** Most reads are short: about this many finish on a connection within MAX_WAIT_MS. */
export const MAX_WAITING_PER_CONNECTION = 50;
export const MAX_WAIT_MS = 3000;

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

/** Keeps plans as tested in test/plans, independent of the settings of the server. */
export const PLANNER_SETTINGS = {
  // Starting workers takes longer than they save, and concurrent requests keep the cores busy.
  max_parallel_workers_per_gather: '0',
  // Postgres's default of 4 is for disks on which look-ups by key are slow with any plan.
  random_page_cost: '1.1',
  // Planning a prepared statement would take longer than running it (statement.ts).
  plan_cache_mode: 'force_generic_plan',
} as const;

interface DatabaseOptions {
  url: string;
  max: number;
  onIdleError: (error: Error) => void;
}

export function openDatabase({ url, max, onIdleError }: DatabaseOptions): Connection {
  return connect({
    url,
    max,
    applicationName: 'kasgres api',
    statementTimeoutMs: 5000,
    // For a server that does not respond at all.
    queryTimeoutMs: 6000,
    connectTimeoutMs: MAX_WAIT_MS,
    maxWaiting: max * MAX_WAITING_PER_CONNECTION,
    // No response pauses this long in a transaction: the connection is lost, and its session would
    // block vacuum and locks.
    settings: { ...PLANNER_SETTINGS, idle_in_transaction_session_timeout: '10s' },
    onIdleError,
  });
}

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

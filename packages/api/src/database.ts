/** Connects to the database with limits, so that no request hangs. */
import { type Connection, connect } from '@kasgres/database';

const STATEMENT_TIMEOUT_MS = 5000;
/** Client-side timeout, for a server that does not respond at all. */
const QUERY_TIMEOUT_MS = 6000;
/** Limits the time to open a connection, and to wait for a free one. */
const CONNECT_TIMEOUT_MS = 3000;
/** Most requests are short: about this many finish on a connection within the longest wait. */
const MAX_WAITING_PER_CONNECTION = 50;

/** Sizes of the pools beside the one for responses, which must not wait for responses. */
export const CONNECTIONS = {
  keys: 2,
  /** Keys that are not cached are looked up with one query at a time (http/key-look-ups.ts). */
  unknownKeys: 1,
  /** For the status, readiness, and the replica lag in metrics. */
  status: 2,
} as const;

/** One connection charges with one statement at a time (limits/postgres-windows.ts); another one sweeps. */
const RATE_LIMIT_CONNECTIONS = 2;
const RATE_LIMIT_TIMEOUT_MS = 1000;

/** Keeps plans as tested in test/plans, independent of the settings of the server. */
export const PLANNER_SETTINGS = {
  // Starting workers takes longer than they save, and concurrent requests keep the cores busy.
  max_parallel_workers_per_gather: '0',
  // Postgres's default of 4 is for disks on which look-ups by key are slow with any plan.
  random_page_cost: '1.1',
} as const;

/** No response pauses this long in a transaction: the connection is lost, and its session would block vacuum and locks. */
const LOST_CONNECTION_SETTINGS = { idle_in_transaction_session_timeout: '10s' } as const;

export interface DatabaseOptions {
  url: string;
  /** Largest number of open connections. */
  max: number;
  onIdleError: (error: Error) => void;
}

export function openDatabase({ url, max, onIdleError }: DatabaseOptions): Connection {
  return connect({
    url,
    max,
    applicationName: 'kasgres api',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxWaiting: max * MAX_WAITING_PER_CONNECTION,
    settings: { ...PLANNER_SETTINGS, ...LOST_CONNECTION_SETTINGS },
    onIdleError,
  });
}

/** Opens connections for rate limits that API processes share. */
export function openRateLimitDatabase({ url, onIdleError }: Omit<DatabaseOptions, 'max'>): Connection {
  return connect({
    url,
    max: RATE_LIMIT_CONNECTIONS,
    applicationName: 'kasgres api rate limits',
    statementTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    queryTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    connectTimeoutMs: RATE_LIMIT_TIMEOUT_MS,
    onIdleError,
  });
}

/** How the API connects to a database: no request may hang, and none is so large that it would need more than one process. */
import { type Connection, connect } from '@kasgres/database';

/** A statement that takes longer is given up: no request hangs. */
const STATEMENT_TIMEOUT_MS = 5000;
/** For a database that does not even say so. */
const QUERY_TIMEOUT_MS = 6000;
/** For a connection, made or free again. */
const CONNECT_TIMEOUT_MS = 3000;
/** For each connection: so many short requests it answers in the time that one waits for it. More are turned away at once. */
const MAX_WAITING_PER_CONNECTION = 50;

/** Keys and usage have connections of their own: they are not to wait for responses. */
const KEY_CONNECTIONS = 2;
/** Keys that are not known yet are looked up one query at a time (http/key-look-ups.ts). */
const UNKNOWN_KEY_CONNECTIONS = 1;
/** The status is read once at a time; readiness and the lag of a replica are asked for by who scrapes them. */
const STATUS_CONNECTIONS = 2;

/** Rate limits are charged one statement at a time (limits/postgres-windows.ts); another connection gives back. */
const RATE_LIMIT_CONNECTIONS = 2;
/** A request waits at most this long for a connection, and for the statement. */
const RATE_LIMIT_TIMEOUT_MS = 1000;

/** So that plans are those that were looked at (test/plans), whatever the server's own settings are. */
export const PLANNER_SETTINGS = {
  // Starting workers takes longer than they save, and many requests at once are what keeps the cores busy.
  max_parallel_workers_per_gather: '0',
  // Rows are looked up by key. On the disks that Postgres's default of 4 is made for, that would be slow whatever the plan.
  random_page_cost: '1.1',
} as const;

/** An answer never pauses that long: its session has lost us, and would keep rows from being vacuumed and others from their locks. */
const LOST_SETTINGS = { idle_in_transaction_session_timeout: '10s' } as const;

export interface DatabaseOptions {
  url: string;
  /** Most connections open at once. */
  max: number;
  onIdleError: (error: Error) => void;
}

/** Connections that answers are read through. */
export function openDatabase({ url, max, onIdleError }: DatabaseOptions): Connection {
  return connect({
    url,
    max,
    applicationName: 'kasgres api',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxWaiting: max * MAX_WAITING_PER_CONNECTION,
    settings: { ...PLANNER_SETTINGS, ...LOST_SETTINGS },
    onIdleError,
  });
}

/** Connections for keys and usage. */
export function openKeyDatabase(options: Omit<DatabaseOptions, 'max'>): Connection {
  return openDatabase({ ...options, max: KEY_CONNECTIONS });
}

/** Connections for keys that are not known yet. */
export function openUnknownKeyDatabase(options: Omit<DatabaseOptions, 'max'>): Connection {
  return openDatabase({ ...options, max: UNKNOWN_KEY_CONNECTIONS });
}

/** Connections for what needs no key. */
export function openStatusDatabase(options: Omit<DatabaseOptions, 'max'>): Connection {
  return openDatabase({ ...options, max: STATUS_CONNECTIONS });
}

/** Connections for rate limits that processes share. */
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

/** Connects to the database with limits, so that no request hangs. */
import { type Connection, connect } from '@kasgres/database';

/** Most reads are short: about this many finish on a connection within MAX_WAIT_MS. */
export const MAX_WAITING_PER_CONNECTION = 50;
export const MAX_WAIT_MS = 3000;

/** Keeps plans as tested in test/plans, independent of the settings of the server. */
export const PLANNER_SETTINGS = {
  // Starting workers takes longer than they save, and concurrent requests keep the cores busy.
  max_parallel_workers_per_gather: '0',
  // Postgres's default of 4 is for disks on which look-ups by key are slow with any plan.
  random_page_cost: '1.1',
  // Planning a prepared statement would take longer than running it (statement.ts).
  plan_cache_mode: 'force_generic_plan',
} as const;

export interface DatabaseOptions {
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

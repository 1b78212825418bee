/** The connections of the indexer. Statements have no time limit, and both ends detect a lost connection. */
import { type Connection, connect } from '@kasgres/database';

/** One writes, one reads, and one is used between attempts. */
const CONNECTIONS = 3;
const ASK_AFTER_SILENCE_MS = 10_000;

const SETTINGS = {
  // The end of the first catch-up may take hours. These override limits of the role and the database.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  // The server detects a lost indexer, even during a long statement, before the next one gives up on the lock (writer-lock.ts).
  client_connection_check_interval: '5s',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s',
} as const;

export function openDatabase(url: string, askAfterSilenceMs = ASK_AFTER_SILENCE_MS): Connection {
  return connect({ url, max: CONNECTIONS, applicationName: 'kasgres indexer', askAfterSilenceMs, settings: SETTINGS });
}

/** Opens the connection of clustering. Its statements go from keys to rows by indexes, regardless of the planner's estimates. */
export function openClusteringDatabase(url: string, askAfterSilenceMs = ASK_AFTER_SILENCE_MS): Connection {
  return connect({
    url,
    max: 1,
    applicationName: 'kasgres clustering',
    askAfterSilenceMs,
    settings: {
      ...SETTINGS,
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      enable_seqscan: 'off',
      max_parallel_workers_per_gather: '0',
      // A step holds the lock on the checkpoint. If this process hangs, the indexer must not wait for it.
      idle_in_transaction_session_timeout: '30s',
    },
  });
}

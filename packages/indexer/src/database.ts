/** How the indexer connects to its database: no statement has a limit, and what is lost is noticed at both ends. */
import { type Connection, connect } from '@kasgres/database';

/** One writes, one reads, one is for requests between attempts. */
const CONNECTIONS = 3;
const ASK_AFTER_SILENCE_MS = 10_000;

const SETTINGS = {
  // The end of the first catch-up takes as long as it takes, regardless of limits that a role or a database sets for others.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  // An indexer that is gone, or its host, must not keep its locks: the server notices before the next one has lost its
  // patience (writer-lock.ts of packages/database), also in the middle of a long statement.
  client_connection_check_interval: '5s',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s',
} as const;

export function openDatabase(url: string, askAfterSilenceMs = ASK_AFTER_SILENCE_MS): Connection {
  return connect({
    url,
    max: CONNECTIONS,
    applicationName: 'kasgres indexer',
    askAfterSilenceMs,
    settings: SETTINGS,
  });
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
      // A step holds the lock of the checkpoint. Should this process hang within one, the chain is not to wait for it.
      idle_in_transaction_session_timeout: '30s',
    },
  });
}

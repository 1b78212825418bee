/**
 * The connections of the indexer. Statements have no time limit, and both ends detect a lost
 * connection.
 */
import { ASK_AFTER_SILENCE_MS, type Connection, connect, socketOf } from '@kasgres/database';
import type { ClientBase, PoolClient } from 'pg';

/**
 * One writes, one reads, one removes old rows, one analyses tables and is used between attempts,
 * and one notifies of commits.
 */
const CONNECTIONS = 5;

/**
 * A batch or a retention cut usually ends within this time. Programs exit 25 seconds after a
 * signal.
 */
const DISCONNECT_AFTER_MS = 5_000;

const SETTINGS = {
  // The server detects a lost indexer, even during a long statement, before the next one gives up
  // on the lock (writer-lock.ts).
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
    pipeline: true,
  });
}

/**
 * Opens the connection of clustering. Its statements go from keys to rows by indexes, regardless of
 * the planner's estimates.
 */
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
      // A step holds the lock on the checkpoint. If this process hangs, the indexer must not wait
      // for it.
      idle_in_transaction_session_timeout: '30s',
    },
  });
}

/**
 * Cuts the connections some seconds after the signal, because the program must stop although a
 * statement may take an hour. As after a crash, the server cancels the statement and rolls back its
 * transaction. A commit that was sent may still succeed; the next attempt reads the checkpoint.
 */
export function disconnectLater(clients: readonly PoolClient[], signal: AbortSignal): { cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const abort = (): void => {
    timer = setTimeout(() => {
      for (const client of clients) socketOf(client).destroy();
    }, DISCONNECT_AFTER_MS);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    cancel: () => {
      signal.removeEventListener('abort', abort);
      clearTimeout(timer);
    },
  };
}

interface Session {
  pid: number;
  /**
   * Distinguishes it from another session with the same pid, after a restart or at another server.
   */
  backend_start: string;
}

/**
 * The sessions of this process at the server. After a silently lost connection, a session keeps its
 * locks until it is terminated.
 */
export class Sessions {
  #previous: Session[] = [];

  async succeed(clients: readonly [ClientBase, ...ClientBase[]]): Promise<void> {
    const [client] = clients;
    for (const { pid, backend_start: start } of this.#previous) {
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz',
        [pid, start],
      );
    }
    this.#previous = [];
    for (const each of clients) {
      const { rows } = await each.query<Session>(
        'select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()',
      );
      this.#previous.push(...rows);
    }
  }
}

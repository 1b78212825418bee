/**
 * Cuts connections that died without a sign. A plain time limit does for short statements. Where a
 * statement may take an hour, as an index build does, the server is asked over another connection
 * whether it still works on it.
 */
import type { Socket } from 'node:net';
import { Client, DatabaseError, type Pool, type PoolClient } from 'pg';
import { clientConfig } from './client-config.ts';

/** The server has no connection left for the inquiry, so it is alive. */
const TOO_MANY_CONNECTIONS = '53300';
const RESPONSE_WITHIN_MS = 5_000;

interface Session {
  processId: number;
  /**
   * The bytes that we had written when the last statement was done. More have been written exactly
   * while a statement is under way.
   */
  bytesWrittenWhenIdle: number;
}

const sessions = new WeakMap<PoolClient, Session>();

/** The socket of a connection; destroying it ends the session. */
export const socketOf = (client: Pick<PoolClient, 'connection'>): Socket => client.connection.stream as Socket;

/**
 * Cuts a connection in use on which nothing has arrived for `limitMs`: its query fails, and the
 * pool drops it. The `query_timeout` of pg would leave it in the pool, for the next query to wait
 * on.
 */
export function cutAfterSilence(pool: Pool, limitMs: number): void {
  onSilence(pool, limitMs, (client) => void socketOf(client).destroy());
}

/**
 * For the option `verify` of a pool that `cutWhenLost` watches: notes the backend of a new
 * connection.
 */
export function noteSession(client: PoolClient, done: (error?: Error) => void): void {
  client.on('drain', () => {
    const session = sessions.get(client);
    if (session !== undefined) session.bytesWrittenWhenIdle = socketOf(client).bytesWritten;
  });
  client.query<{ pid: number }>('select pg_backend_pid() as pid', (error: Error | null, result) => {
    if (error === null) {
      const processId = result.rows[0]?.pid ?? 0;
      sessions.set(client, { processId, bytesWrittenWhenIdle: socketOf(client).bytesWritten });
    }
    done(error ?? undefined);
  });
}

/**
 * Cuts a connection in use that has been silent for `afterMs` and whose statement the server does
 * not work on, or cannot be asked about, twice in a row: the first time, the response may be on its
 * way.
 */
export function cutWhenLost(pool: Pool, url: string, afterMs: number): void {
  const suspectedAt = new WeakMap<PoolClient, number>();
  const check = async (client: PoolClient): Promise<void> => {
    const socket = socketOf(client);
    const session = sessions.get(client);
    const traffic = socket.bytesRead + socket.bytesWritten;
    const isPending = session === undefined || socket.bytesWritten !== session.bytesWrittenWhenIdle;
    if (isPending && !(await isWorking(url, session?.processId))) {
      if (suspectedAt.get(client) === traffic) socket.destroy();
      suspectedAt.set(client, traffic);
    } else suspectedAt.delete(client);
    // The timeout is zero if the connection was released meanwhile.
    if (socket.timeout) socket.setTimeout(afterMs);
  };
  onSilence(pool, afterMs, (client) => void check(client));
}

/** Calls `listener` when a connection in use has been silent for so long. */
function onSilence(pool: Pool, afterMs: number, listener: (client: PoolClient) => void): void {
  pool.on('connect', (client) => socketOf(client).on('timeout', () => listener(client)));
  pool.on('acquire', (client) => socketOf(client).setTimeout(afterMs));
  pool.on('release', (_error, client) => socketOf(client).setTimeout(0));
}

/** A backend that waits for its client while we wait for it has lost the connection. */
async function isWorking(url: string, processId: number | undefined): Promise<boolean> {
  let client: Client | undefined;
  try {
    client = new Client({
      ...clientConfig(url),
      application_name: 'kasgres silence',
      connectionTimeoutMillis: RESPONSE_WITHIN_MS,
      query_timeout: RESPONSE_WITHIN_MS,
    });
    client.on('error', () => {});
    await client.connect();
    const { rowCount } = await client.query(
      "select from pg_stat_activity where pid = $1 and state = 'active' and wait_event_type is distinct from 'Client'",
      [processId ?? 0],
    );
    return rowCount === 1;
  } catch (error) {
    return error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS;
  } finally {
    void client?.end().catch(() => {});
  }
}

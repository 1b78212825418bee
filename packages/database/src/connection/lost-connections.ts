/**
 * Tells a long statement from a connection that died without a word, which a time limit cannot: an index may take an hour to
 * build. When nothing has come for a while, the server is asked over another connection whether it works on the statement.
 */
import type { Socket } from 'node:net';
import { Client, DatabaseError, type Pool, type PoolClient } from 'pg';

/** What pg knows of a connection and its types leave out. */
interface Internals {
  connection: { stream: Socket };
  /** False while a statement is under way. */
  readyForQuery: boolean;
  processID: number | null;
}

const internalsOf = (client: PoolClient): Internals => client as PoolClient & Internals;

export const streamOf = (client: PoolClient): Socket => internalsOf(client).connection.stream;

/** The server has no connection left for the request: it lives, and that is all there is to know. */
const TOO_MANY_CONNECTIONS = '53300';
const RESPONSE_WITHIN_MS = 5_000;

/**
 * Cuts a connection in use that has been silent for `afterMs` and whose statement the server does not work on, or cannot be asked about,
 * two times in a row: an answer may be on its way the first time. Its query fails, and the pool drops it.
 */
export function cutWhenLost(pool: Pool, url: string, afterMs: number): void {
  pool.on('connect', (client) => {
    const stream = streamOf(client);
    let suspectedAt: number | undefined;
    const look = async (): Promise<void> => {
      const { readyForQuery, processID } = internalsOf(client);
      const traffic = stream.bytesRead + stream.bytesWritten;
      if (!readyForQuery && !(await isWorking(url, processID))) {
        if (suspectedAt === traffic) stream.destroy();
        suspectedAt = traffic;
      } else suspectedAt = undefined;
      // Zero means that it was given back meanwhile.
      if (stream.timeout) stream.setTimeout(afterMs);
    };
    stream.on('timeout', () => void look());
  });
  pool.on('acquire', (client) => streamOf(client).setTimeout(afterMs));
  pool.on('release', (_error, client) => streamOf(client).setTimeout(0));
}

/** A backend that waits for its client while we wait for it has lost us. */
async function isWorking(url: string, processId: number | null): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    application_name: 'kasgres silence',
    connectionTimeoutMillis: RESPONSE_WITHIN_MS,
    query_timeout: RESPONSE_WITHIN_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query(
      "select from pg_stat_activity where pid = $1 and state = 'active' and wait_event_type is distinct from 'Client'",
      [processId],
    );
    return rowCount === 1;
  } catch (error) {
    return error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS;
  } finally {
    void client.end().catch(() => {});
  }
}

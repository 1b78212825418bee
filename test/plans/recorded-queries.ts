/** What is really sent to Postgres: the statements of a pool, with their parameters. */
import type { Pool, QueryConfig } from 'pg';

export interface RecordedQuery {
  text: string;
  values: unknown[];
  /** Of a prepared statement, whose plan Postgres may keep for other parameters. */
  name: string | undefined;
}

/** To be called before the pool opens a connection. @returns a function that gives what was sent since it was called last */
export function recordQueries(pool: Pool): () => RecordedQuery[] {
  let recorded: RecordedQuery[] = [];
  pool.on('connect', (client) => {
    const send = client.query.bind(client) as (...args: unknown[]) => unknown;
    const recording = (first: string | QueryConfig, second: unknown, ...rest: unknown[]): unknown => {
      const query: QueryConfig = typeof first === 'string' ? { text: first } : first;
      const values = Array.isArray(second) ? second : (query.values ?? []);
      recorded.push({ text: query.text, values, name: query.name });
      return send(first, second, ...rest);
    };
    client.query = recording as typeof client.query;
  });
  return () => {
    const taken = recorded;
    recorded = [];
    return taken;
  };
}

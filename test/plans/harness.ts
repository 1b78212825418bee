/** The API in this process, on a generated index of a million transactions, and its queries. */
import {
  Admission,
  createMetrics,
  createServer,
  createServices,
  MemoryWindows,
  openDatabase,
  PLANNER_SETTINGS,
  type Services,
} from '@kasgres/api';
import { connect, createKey } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { Pool, QueryConfig } from 'pg';
import { fillLargeIndex } from './large-index.ts';

export interface Request {
  method: 'get' | 'post';
  url: string;
  body?: object;
}

export interface RecordedQuery {
  text: string;
  values: unknown[];
  /** The name of a prepared statement, whose plan Postgres may keep for other parameters. */
  name?: string | undefined;
}

export type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Filling takes half a minute on an idle machine. */
export const FILL_DEADLINE_MS = 900_000;

const noNode = () => Promise.reject(new Error('there is no node here'));

/**
 * @param generations number of partitions of each table; each makes look-ups more expensive, so
 * plans differ
 */
export async function openHarness({ generations = 10 } = {}) {
  const database = await createTestDatabase();
  await fillLargeIndex(database.pool, generations);
  const { key } = await createKey(database.kysely, { name: 'plans', rateRu: 1e9 });
  const open = () => openDatabase({ url: database.url, max: 10, onIdleError: () => undefined });
  const [api, likeApi] = [open(), open()];
  const unconfigured = connect({
    url: database.url,
    applicationName: 'plans',
    settings: { ...PLANNER_SETTINGS, work_mem: '4MB', effective_cache_size: '4GB' },
  });
  const recorded = recordQueries(api.pool);
  const logger = createLogger({ name: 'api under test', level: 'silent' });
  const node = { connected: false, call: noNode, list: noNode };
  const admission = new Admission({
    database: api.kysely,
    unknownKeysDatabase: api.kysely,
    windows: new MemoryWindows(),
    logger,
  });
  const services = createServices({
    admission,
    readDatabase: api,
    readConnections: 10,
    statusDatabase: api,
    node,
    databaseUrl: database.url,
    logger,
  });
  const server = await createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });

  const send = async (requests: readonly Request[]): Promise<{ status: number; text: string }[]> => {
    recorded();
    const headers = { 'x-api-key': key };
    const responses = await Promise.all(
      requests.map(({ method, url, body }) => server.inject({ method, url, headers, ...(body && { payload: body }) })),
    );
    return responses.map(({ statusCode, body }) => ({ status: statusCode, text: body }));
  };

  return {
    database,
    /** Connections with the settings of the API. */
    likeApi: likeApi.pool,
    /** Connections with the default settings of Postgres. */
    likeApiUnconfigured: unconfigured.pool,
    ask: async (request: Request) => {
      const [{ status, text } = { status: 0, text: '' }] = await send([request]);
      return { status, text, queries: recorded().filter(isRead) };
    },
    /** Runs a read of the program itself. */
    record: async (read: (index: Services['index']) => Promise<unknown>) => {
      recorded();
      await read(services.index);
      return recorded().filter(isRead);
    },
    /**
     * Sends requests at once. Those beyond the connections of a caller wait, and may share
     * executions.
     */
    askTogether: async (requests: readonly Request[]) => {
      const responses = await send(requests);
      return { statuses: responses.map(({ status }) => status), queries: recorded().filter(isRead) };
    },
    close: async () => {
      await server.close();
      await admission.close();
      await Promise.all([api, likeApi, unconfigured].map((connection) => connection.close()));
      await database.drop();
    },
  };
}

/**
 * Excludes what runs at any time: look-ups of keys, and statements that write usage and limits,
 * which first read the number of their transaction.
 */
const isRead = ({ text }: RecordedQuery): boolean =>
  /^\s*(?:select|with)\b/i.test(text) && !text.includes('pg_current_xact_id') && !text.includes('api_key');

/**
 * Must be called before the pool opens a connection. Returns a function that returns the queries
 * sent since its last call.
 */
function recordQueries(pool: Pool): () => RecordedQuery[] {
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

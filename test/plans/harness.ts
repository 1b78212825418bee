/** The API in this process, on an index of a million transactions that no node wrote, and what it sends to Postgres. */
import {
  createMetrics,
  createServer,
  createServices,
  MemoryWindows,
  openDatabase,
  PLANNER_SETTINGS,
} from '@kasgres/api';
import { connect, createKey, createTestDatabase, type TestDatabase } from '@kasgres/database';
import { createLogger, createRegistry } from '@kasgres/runtime';
import type { Pool } from 'pg';
import { fillLargeIndex } from './large-index.ts';
import { type RecordedQuery, recordQueries } from './recorded-queries.ts';

export interface Request {
  method: 'get' | 'post';
  /** As in openapi.json. */
  template: string;
  url: string;
  body?: object;
}

export interface Asked {
  status: number;
  json: Record<string, unknown>;
  /** What the response was read with. */
  queries: RecordedQuery[];
}

export interface Harness {
  database: TestDatabase;
  /** Connections with the settings of the API's own. */
  likeApi: Pool;
  /** And on a Postgres whose settings nobody has touched. */
  likeApiUnconfigured: Pool;
  ask: (request: Omit<Request, 'template'>) => Promise<Asked>;
  close: () => Promise<void>;
}

export async function openHarness(): Promise<Harness> {
  const database = await createTestDatabase();
  await fillLargeIndex(database.pool);
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
  const node = { connected: false, call: () => Promise.reject(new Error('there is no node here')) };
  const services = createServices({
    database: api.kysely,
    unknownKeysDatabase: api.kysely,
    readDatabase: api.kysely,
    readConnections: 10,
    statusDatabase: api.kysely,
    node,
    windows: new MemoryWindows(),
    logger,
  });
  const server = await createServer({ services, logger, metrics: createMetrics(createRegistry('api under test')) });

  return {
    database,
    likeApi: likeApi.pool,
    likeApiUnconfigured: unconfigured.pool,
    ask: async ({ method, url, body }) => {
      recorded();
      const headers = { 'x-api-key': key };
      const response = await server.inject({ method, url, headers, ...(body && { payload: body }) });
      return { status: response.statusCode, json: response.json(), queries: recorded().filter(isRead) };
    },
    close: async () => {
      await server.close();
      services.keys.close();
      await services.limits.close();
      await Promise.all([api, likeApi, unconfigured].map((connection) => connection.close()));
      await database.drop();
    },
  };
}

/** What is metered is written whenever it is time for it, and first asks for the number of its transaction. */
const isRead = ({ text }: RecordedQuery): boolean =>
  /^\s*(?:select|with)\b/i.test(text) && !text.includes('pg_current_xact_id');

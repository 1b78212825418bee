/**
 * The processor time of getCurrentNetwork under a key, as Fastify serves it and as it is served from memory
 * (docs/adr/0015-responses-without-fastify.md), compared with a bare Fastify. Connections are in memory, since on some machines writes to sockets
 * take most of the time of such requests.
 *
 *   node bench/idle.ts [--json] [--runs 20] [--requests 5000] [--log error]
 *
 * DATABASE_URL names an index; without it, an embedded Postgres is filled with a million transactions. Each run measures all three in turn, and
 * the first five only warm up.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createMetrics, createServer, createServices, LocalAdmission, MemoryWindows, openDatabase } from '@kasgres/api';
import { migrate, startTemporaryPostgres } from '@kasgres/database';
import { createLogger, createRegistry, LOG_LEVELS, type LogLevel } from '@kasgres/runtime';
import Fastify from 'fastify';
import { fillLargeIndex } from '../test/plans/large-index.ts';
import { MemorySocket } from './memory-socket.ts';
import { markdownTable, median, readOptions, round } from './options.ts';
import { withTemporaryKey } from './temporary-key.ts';

const WARM_UP_RUNS = 5;
const PATH = '/v1/rpc/getCurrentNetwork';
/** A slot is free again when the connection has taken the response. */
const CONCURRENCY = 10;

const { json, numbers, texts } = readOptions({ runs: 20, requests: 5000 }, ['log']);
const level = LOG_LEVELS.find((known) => known === (texts.log ?? 'error'));
if (level === undefined) {
  console.error(`--log must be one of ${LOG_LEVELS.join(', ')}`);
  process.exit(1);
}
const embedded = process.env['DATABASE_URL'] === undefined ? await startTemporaryPostgres() : undefined;
const databaseUrl = process.env['DATABASE_URL'] ?? embedded?.url ?? '';
const database = openDatabase({ url: databaseUrl, max: 10, onIdleError: () => undefined });
try {
  await migrate(databaseUrl);
  if (embedded !== undefined) await fillLargeIndex(database.pool);
  await withTemporaryKey(database, CONCURRENCY, async (key) => report(await measureAll(key, level)));
} finally {
  await database.close();
  await embedded?.stop();
}

async function measureAll(key: string, logLevel: LogLevel): Promise<Map<string, number[]>> {
  const bare = Fastify();
  bare.get('/', async () => ({ network: 'simnet' }));
  const { api, close } = await openApi(logLevel);
  for (const server of [bare, api]) await server.listen({ host: '127.0.0.1', port: 0 });
  const withKey = `GET ${PATH} HTTP/1.1\r\nhost: bench\r\nx-api-key: ${key}\r\n`;
  const senders = {
    'bare response': connectTo(bare.server, 'GET / HTTP/1.1\r\nhost: bench\r\n\r\n'),
    // The header keeps the request from being served from memory, and has no other effect.
    'through Fastify': connectTo(api.server, `${withKey}content-encoding: identity\r\n\r\n`),
    'from memory': connectTo(api.server, `${withKey}\r\n`),
  };
  const micros = new Map<string, number[]>();
  for (let run = 0; run < WARM_UP_RUNS + numbers.runs; run += 1) {
    for (const [name, send] of Object.entries(senders)) {
      const before = process.cpuUsage();
      for (let request = 0; request < numbers.requests; request += 1) await send();
      const { user, system } = process.cpuUsage(before);
      if (run >= WARM_UP_RUNS) micros.set(name, [...(micros.get(name) ?? []), (user + system) / numbers.requests]);
    }
  }
  await Promise.all([bare.close(), api.close()]);
  await close();
  return micros;
}

async function openApi(logLevel: LogLevel) {
  const logger = createLogger({ name: 'bench', level: logLevel, destination: { write: () => undefined } });
  const admission = new LocalAdmission({
    database: database.kysely,
    unknownKeysDatabase: database.kysely,
    windows: new MemoryWindows(),
    logger,
  });
  const services = createServices({
    admission,
    readDatabase: database,
    readConnections: 4,
    statusDatabase: database,
    node: { connected: false, call: noNode, list: noNode },
    databaseUrl,
    logger,
  });
  const api = await createServer({ services, logger, metrics: createMetrics(createRegistry('bench')) });
  return { api, close: () => admission.close() };
}

const noNode = (): Promise<never> => Promise.reject(new Error('there is no node'));

/** Returns a function that sends the request over a connection in memory, and resolves in the next turn after the response. @throws if it is no 200 */
function connectTo(server: Server, text: string): () => Promise<void> {
  const request = Buffer.from(text);
  const socket = new MemorySocket();
  server.emit('connection', socket);
  return async () => {
    const responded = once(socket, 'responded') as Promise<[string]>;
    socket.push(request);
    const [status] = await responded;
    if (!status.startsWith('HTTP/1.1 200')) throw new Error(`the response is ${status}`);
  };
}

function report(micros: ReadonlyMap<string, readonly number[]>): void {
  const medians = [...micros].map(([name, times]) => ({ name, micros: round(median([...times]), 1) }));
  const bare = medians[0]?.micros ?? Number.NaN;
  const rows = medians.map((row) => ({ ...row, ratio: round(bare / row.micros, 2) }));
  if (json) return console.log(JSON.stringify(rows, null, 2));
  console.log(
    markdownTable(
      ['request', 'µs of CPU', 'bare response / this'],
      rows.map((row) => Object.values(row)),
    ),
  );
}

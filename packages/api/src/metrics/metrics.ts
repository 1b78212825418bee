import type { Connection } from '@kasgres/database';
import { Counter, Gauge, type Registry } from '@kasgres/runtime';
import { RequestSeconds } from './request-seconds.ts';

export type ApiMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requestSeconds: new RequestSeconds(registry),
    refusedRequests: new Counter({
      name: 'kasgres_api_refused_requests_total',
      help: 'Refused requests by reason: missing_key and invalid_key (401), read_only (403), rate_limit, quota and concurrency (429).',
      labelNames: ['reason'],
      registers,
    }),
    spent: countSpentUnits(registry),
    cutOffResponses: new Counter({
      name: 'kasgres_api_aborted_responses_total',
      help: 'Connections closed because the client did not read a response: stalled, or memory if too many bytes were unread.',
      labelNames: ['reason'],
      registers,
    }),
    certificateExpiry: new Gauge({
      name: 'kasgres_api_certificate_expiry_timestamp_seconds',
      help: 'Expiry of the HTTPS certificate; 0 without one.',
      aggregator: 'min',
      registers,
    }),
  };
}

/**
 * Returns the request units since the last scrape, to which requests add. Adding to a number takes
 * less time than the library's counter.
 */
function countSpentUnits(registry: Registry): { units: number } {
  const spent = { units: 0 };
  const counter: Counter = new Counter({
    name: 'kasgres_api_charged_request_units_total',
    help: 'Request units charged for requests.',
    registers: [registry],
    collect: () => {
      counter.inc(spent.units);
      spent.units = 0;
    },
  });
  return spent;
}

/** Counted by the process that charges limits. */
export const createRateLimitStoreFailures = (registry: Registry) =>
  new Counter({
    name: 'kasgres_api_rate_limit_store_failures_total',
    help: 'Failed statements on shared rate limits, whose requests were refused with a 503.',
    registers: [registry],
  });

interface Dependencies {
  pool: Connection['pool'];
  queue: { waiting: number };
  node: { connected: boolean };
  findReplicaLag: () => Promise<number | null>;
}

/** Adds gauges that are read at each scrape, so that they are correct without requests. */
export function watchDependencies(registry: Registry, { pool, queue, node, findReplicaLag }: Dependencies): void {
  const registers = [registry];
  const connections = new Gauge({
    name: 'kasgres_api_database_connections',
    help: 'Database connections for responses by state, and requests that wait for one (pending).',
    labelNames: ['state'],
    registers,
    collect: () => {
      connections.set({ state: 'idle' }, pool.idleCount);
      connections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
      connections.set({ state: 'pending' }, queue.waiting + pool.waitingCount);
    },
  });
  const connected: Gauge = new Gauge({
    name: 'kasgres_api_node_connected',
    help: '1 while a node is connected, else 0.',
    aggregator: 'min',
    registers,
    collect: () => connected.set(node.connected ? 1 : 0),
  });
  const lag: Gauge = new Gauge({
    name: 'kasgres_api_replica_lag_seconds',
    help: 'Lag of the database that responses are read from behind its primary; 0 on the primary, NaN while it is unavailable.',
    aggregator: 'max',
    registers,
    collect: async () => lag.set((await findReplicaLag().catch(() => Number.NaN)) ?? 0),
  });
}

/** Adds what streams of this process do. */
export function watchStreams(
  registry: Registry,
  streams: { connections: number; sent: { messages: number; bytes: number } },
): void {
  const registers = [registry];
  const connections: Gauge = new Gauge({
    name: 'kasgres_api_streams',
    help: 'Open streams and WebSockets.',
    registers,
    collect: () => connections.set(streams.connections),
  });
  const add = (name: string, help: string, read: () => number): void => {
    let counted = 0;
    const counter: Counter = new Counter({
      name,
      help,
      registers,
      collect: () => {
        counter.inc(read() - counted);
        counted = read();
      },
    });
  };
  add('kasgres_api_stream_messages_total', 'Messages of streams, heartbeats included.', () => streams.sent.messages);
  add('kasgres_api_stream_bytes_total', 'Bytes of these messages.', () => streams.sent.bytes);
}

/** The metrics of the API. */
import type { Connection } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import { Counter, Gauge, Histogram, type Registry } from '@kasgres/runtime';

export interface ApiMetrics {
  requestSeconds: Histogram<'route' | 'method' | 'status'>;
  refusedRequests: Counter<'reason'>;
  spentUnits: Counter;
  cutOffResponses: Counter<'reason'>;
  rateLimitStoreFailures: Counter;
  certificateExpiry: Gauge;
}

export function createMetrics(registry: Registry): ApiMetrics {
  return {
    requestSeconds: new Histogram({
      name: 'kasgres_api_request_seconds',
      help: 'Time from the headers of a request to the end of its response, by route template; unknown paths are one route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers: [registry],
    }),
    refusedRequests: new Counter({
      name: 'kasgres_api_refused_requests_total',
      help: 'Refused requests by reason: missing_key and invalid_key (401), read_only (403), rate_limit, quota and concurrency (429).',
      labelNames: ['reason'],
      registers: [registry],
    }),
    spentUnits: new Counter({
      name: 'kasgres_api_charged_request_units_total',
      help: 'Request units charged for requests.',
      registers: [registry],
    }),
    cutOffResponses: new Counter({
      name: 'kasgres_api_aborted_responses_total',
      help: 'Connections closed because the client did not read a response: stalled, or memory if too many bytes were unread.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    rateLimitStoreFailures: new Counter({
      name: 'kasgres_api_rate_limit_store_failures_total',
      help: 'Failed statements on shared rate limits, whose requests were refused with a 503.',
      registers: [registry],
    }),
    certificateExpiry: new Gauge({
      name: 'kasgres_api_certificate_expiry_timestamp_seconds',
      help: 'Expiry of the HTTPS certificate; 0 without one.',
      registers: [registry],
    }),
  };
}

export function watchPool(registry: Registry, pool: Connection['pool'], queue: { waiting: number }): void {
  const gauge = new Gauge({
    name: 'kasgres_api_database_connections',
    help: 'Database connections for responses by state, and requests that wait for one (pending).',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      gauge.set({ state: 'idle' }, pool.idleCount);
      gauge.set({ state: 'used' }, pool.totalCount - pool.idleCount);
      gauge.set({ state: 'pending' }, queue.waiting + pool.waitingCount);
    },
  });
}

export function watchNode(registry: Registry, node: Pick<NodeClient, 'connected'>): void {
  const gauge: Gauge = new Gauge({
    name: 'kasgres_api_node_connected',
    help: '1 while a node is connected, else 0.',
    registers: [registry],
    collect: () => gauge.set(node.connected ? 1 : 0),
  });
}

/** The lag is read at each scrape, so that it is correct without other requests. */
export function watchReplicaLag(registry: Registry, findLag: () => Promise<number | null>): void {
  const gauge: Gauge = new Gauge({
    name: 'kasgres_api_replica_lag_seconds',
    help: 'Lag of the database that responses are read from behind its primary; 0 on the primary, NaN while it is unavailable.',
    registers: [registry],
    collect: async () => {
      const seconds = await findLag().catch(() => Number.NaN);
      gauge.set(seconds ?? 0);
    },
  });
}

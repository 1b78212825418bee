/** What the API counts. */
import { Histogram, type Registry } from '@kasgres/runtime';

export interface ApiMetrics {
  requestSeconds: Histogram<'route' | 'method' | 'status'>;
}

export function createMetrics(registry: Registry): ApiMetrics {
  return {
    requestSeconds: new Histogram({
      name: 'kasgres_api_request_seconds',
      help: 'Time from the head of a request to the end of its answer, by route template; unknown paths are one route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers: [registry],
    }),
  };
}

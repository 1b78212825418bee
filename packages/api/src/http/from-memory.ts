/**
 * Responds without Fastify to requests that need only the state in memory, since its hooks and headers take longer than all else of such a request
 * (docs/adr/0015-responses-without-fastify.md). This serves what nearly all of these requests are: a GET with a key that is known and within its
 * limits, while the state is known. Every other one is left to Fastify without any effect. The steps and headers that both need are the same code.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { StateResponses } from '../index-state/respond.ts';
import type { ApiMetrics } from '../metrics.ts';
import type { Services } from '../services.ts';
import { writeAccess } from './access-log.ts';
import { CACHE_CONTROL, limitHeaders } from './authentication.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-identity.ts';

interface Route {
  url: string;
  cost: number;
  stateResponses: StateResponses;
}

/** Headers of requests that have other responses or effects: 304, CORS, a body. */
const OTHERS = ['if-none-match', 'origin', 'content-length', 'transfer-encoding', 'content-encoding'] as const;

/** Must be called before the routes are added. */
export function respondFromMemory(app: FastifyInstance, { index, admission }: Services, metrics: ApiMetrics): void {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const { operation, stateResponses } = config ?? {};
    if (method !== 'GET' || operation?.cost === undefined || stateResponses === undefined) return;
    routes.set(url, { url, cost: operation.cost, stateResponses });
  });

  const respond = (request: IncomingMessage, response: ServerResponse): boolean => {
    const route = request.method === 'GET' ? routes.get(request.url ?? '') : undefined;
    const key = request.headers['x-api-key'];
    if (route === undefined || typeof key !== 'string' || !isUsual(request, response)) return false;
    const state = index.getKnownState();
    const admitted = state && admission.admitAtOnce(key, route.cost);
    if (state === undefined || admitted === undefined) return false;
    const startedAt = performance.now();
    const { url, cost } = route;
    const { apiKey, standing } = admitted;
    const { headers, type, body } = route.stateResponses.get(state, url);
    const id = requestIdOf(request);
    response.on('close', () => {
      admission.release(apiKey);
      const durationMs = performance.now() - startedAt;
      metrics.requestSeconds.observe(url, 'GET', 200, durationMs / 1000);
      metrics.spent.units += cost;
      writeAccess(app.accessLog, { id, method: 'GET', url, status: 200, durationMs, apiKeyId: apiKey.id });
    });
    response.writeHead(200, {
      [REQUEST_ID_HEADER]: id,
      vary: VARY,
      'cache-control': CACHE_CONTROL,
      ...limitHeaders(apiKey, standing, cost),
      ...headers,
      'content-type': type,
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
    return true;
  };

  /** Not while the server closes, which ends connections, or when earlier responses are unread (pipelining.ts, unread-responses.ts). */
  const isUsual = ({ headers }: IncomingMessage, { socket }: ServerResponse): boolean =>
    app.server.listening && socket?.writableLength === 0 && OTHERS.every((name) => headers[name] === undefined);

  const { server } = app;
  const [respondByFastify] = server.listeners('request') as ((...args: [IncomingMessage, ServerResponse]) => void)[];
  if (respondByFastify === undefined) throw new Error('Fastify does not listen to requests');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!respond(request, response)) respondByFastify(request, response);
  });
}

/** Also on uncompressed responses, since another client may get the same response compressed. */
export const VARY = 'accept-encoding';

/**
 * Serves requests that need only the state in memory without Fastify, whose hooks and headers take longer than everything else in such a request
 * (docs/adr/0015-responses-without-fastify.md). This covers the common case: a GET with a known key within its limits, while the state is known.
 * All other requests are passed to Fastify unchanged. Both paths share the code for admission, headers, metrics and the log.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { IndexState } from '../index-state/index-state.ts';
import type { StateResponse, StateResponses } from '../index-state/respond.ts';
import type { ApiMetrics } from '../metrics.ts';
import type { Services } from '../services.ts';
import { writeAccess } from './access-log.ts';
import { CACHE_CONTROL, limitHeaders } from './authentication.ts';
import { interceptRequests } from './intercept-requests.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-identity.ts';

interface Route {
  url: string;
  cost: number;
  stateResponses: StateResponses;
}

/** With one of these, a request has another response or effect: a 304, CORS, a body. */
const HEADERS_FOR_FASTIFY = [
  'if-none-match',
  'origin',
  'content-length',
  'transfer-encoding',
  'content-encoding',
] as const;

/** Must be called before the routes are added. */
export function respondFromMemory(app: FastifyInstance, { index, admission }: Services, metrics: ApiMetrics): void {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const { operation, stateResponses } = config ?? {};
    if (method !== 'GET' || operation?.cost === undefined || stateResponses === undefined) return;
    routes.set(url, { url, cost: operation.cost, stateResponses });
  });

  /** Returns false, without any effect, for a request that Fastify must serve. */
  const respond = (request: IncomingMessage, response: ServerResponse): boolean => {
    const route = request.method === 'GET' ? routes.get(request.url ?? '') : undefined;
    const key = request.headers['x-api-key'];
    if (route === undefined || typeof key !== 'string' || !canServe(request, response)) return false;
    const state = index.getKnownState();
    const found = state && responseOf(route, state);
    const admitted = found && admission.admitAtOnce(key, route.cost);
    if (found === undefined || admitted === undefined) return false;
    const startedAt = performance.now();
    const { url, cost } = route;
    const { apiKey, standing } = admitted;
    const requestId = requestIdOf(request);
    response.on('close', () => {
      admission.release(apiKey);
      const durationMs = performance.now() - startedAt;
      metrics.requestSeconds.observe(url, 'GET', 200, durationMs / 1000);
      metrics.spent.units += cost;
      writeAccess(app.accessLog, { requestId, method: 'GET', url, status: 200, durationMs, apiKeyId: apiKey.id });
    });
    response.writeHead(200, {
      [REQUEST_ID_HEADER]: requestId,
      vary: VARY,
      'cache-control': CACHE_CONTROL,
      ...limitHeaders(apiKey, standing, cost),
      ...found.headers,
      'content-type': found.type,
      'content-length': Buffer.byteLength(found.body),
    });
    response.end(found.body);
    index.refreshState();
    return true;
  };

  /** A server that is closing ends connections. Earlier responses may be unread (pipelining.ts, unread-responses.ts). */
  const canServe = ({ headers }: IncomingMessage, { socket }: ServerResponse): boolean =>
    app.server.listening &&
    socket?.writableLength === 0 &&
    HEADERS_FOR_FASTIFY.every((name) => headers[name] === undefined);

  interceptRequests(app.server, (request, response, next) => {
    if (!respond(request, response)) next();
  });
}

/** Returns undefined for an error, which Fastify turns into a response. */
function responseOf({ url, stateResponses }: Route, state: IndexState): StateResponse | undefined {
  try {
    return stateResponses.get(state, url);
  } catch {
    return undefined;
  }
}

/** Also on uncompressed responses, since another client may get the same response compressed. */
export const VARY = 'accept-encoding';

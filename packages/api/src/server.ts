/** The HTTP server: limits that keep a request from hanging or growing, and what is the same for every answer. */
import { fastifyCors } from '@fastify/cors';
import type { Logger } from '@kasgres/runtime';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { api } from './app.ts';
import { logAccess } from './http/access-log.ts';
import { limitResponseTime } from './http/answer-timeout.ts';
import type { Certificate } from './http/certificate.ts';
import { compressResponses } from './http/compression.ts';
import { MAX_BODY_BYTES, parseJsonBodies } from './http/json-body.ts';
import { corsOptions } from './http/cors.ts';
import { serveInTurn } from './http/pipelining.ts';
import { respondBadUrl, respondClientError } from './http/protocol-errors.ts';
import { respondWithRequestId, requestIdOf } from './http/request-id.ts';
import { limitUnreadResponses, UNREAD_RESPONSES, UnreadResponses } from './http/unread-responses.ts';
import { validateLargeBodies } from './http/validation.ts';
import type { ApiMetrics } from './metrics.ts';
import type { Services } from './services.ts';

/** Each takes some 20 kB while it is idle. What is beyond them is closed as soon as it is accepted. */
const MAX_CONNECTIONS = 10_000;
/** The URL counts too. */
const MAX_HEADER_BYTES = 16 * 1024;
/** For the request to arrive. */
const REQUEST_TIMEOUT_MS = 10_000;
/** For a TLS handshake; Node's own limit is two minutes. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How often Node looks for requests that are late: its own half a minute would treble the time they have. */
const TIMEOUT_CHECK_MS = 2000;
/** For the answer, whatever the database and the node do. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** Longer than an answer takes. What is sent has limits of its own (unread-responses.ts), and so has what arrives. */
const SILENCE_TIMEOUT_MS = 30_000;
/** Longer than the minute after which load balancers close connections: who closes first must not be the one that is sent to. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Longer than any address, so that a wrong one is told to be wrong. */
const MAX_PARAMETER_LENGTH = 1000;

export interface ServerOptions {
  services: Services;
  logger: Logger;
  metrics: ApiMetrics;
  /** Serves HTTPS alone when given. */
  certificate?: Pick<Certificate, 'cert' | 'key'>;
  /** Of pages that may call from a browser; none by default. */
  corsOrigins?: readonly string[];
}

/** Not listening yet. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { services, logger, metrics, certificate, corsOrigins } = options;
  const loggerInstance: FastifyBaseLogger = logger;
  const protocol = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
  const app = Fastify({
    ...(certificate === undefined
      ? { http: protocol }
      : {
          https: { ...protocol, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, cert: certificate.cert, key: certificate.key },
        }),
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    frameworkErrors: respondBadUrl,
    clientErrorHandler: respondClientError,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Connections that are still open at the end are answered like all others; the answer closes them.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  serveInTurn(app);
  limitResponseTime(app, RESPONSE_TIMEOUT_MS);
  limitUnreadResponses(app, {
    unread: new UnreadResponses(UNREAD_RESPONSES),
    onCutOff: (reason) => metrics.cutOffResponses.inc({ reason }),
  });
  app.removeContentTypeParser('text/plain');
  parseJsonBodies(app);
  validateLargeBodies(app);
  app.addHook('onResponse', async (request, reply) => {
    observe(metrics, request, reply);
    logAccess(request, reply);
  });
  closeConnectionsAtTheEnd(app);
  respondWithRequestId(app);
  await compressResponses(app);
  if (corsOrigins !== undefined) await app.register(fastifyCors, corsOptions(corsOrigins));
  await app.register(api, services);
  return app;
}

/** Closing waits for every connection; one that is answering when the end comes is idle, and can be closed, only afterwards. */
function closeConnectionsAtTheEnd(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    const timer = setInterval(() => app.server.closeIdleConnections(), 50);
    app.server.once('close', () => clearInterval(timer));
  });
}

function observe(metrics: ApiMetrics, request: FastifyRequest, reply: FastifyReply): void {
  const labels = {
    route: request.routeOptions.url ?? 'unknown',
    method: request.method,
    status: String(reply.statusCode),
  };
  metrics.requestSeconds.observe(labels, reply.elapsedTime / 1000);
  // Only requests under a key have these.
  if (request.refusal) metrics.refusedRequests.inc({ reason: request.refusal });
  if (request.spentRu) metrics.spentUnits.inc(request.spentRu);
}

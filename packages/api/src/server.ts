/** The HTTP server: limits on time and size of requests, and hooks of every response. */
import { fastifyCors } from '@fastify/cors';
import fastifyWebsocket from '@fastify/websocket';
import { HttpError } from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { api } from './app.ts';
import { accessLogOf, logAccess } from './http/access-log.ts';
import type { Certificate } from './http/certificate.ts';
import { compressResponses } from './http/compression.ts';
import { limitConnections, wantedConnections } from './http/connections.ts';
import { corsOptions } from './http/cors.ts';
import { respondClientError } from './http/error-envelope.ts';
import { ignoreHeadersOfNoBody, MAX_BODY_BYTES, parseJsonBodies } from './http/json-body.ts';
import { localUrl, normalizeForwardedFor, REQUEST_ID_HEADER, requestIdOf } from './http/request-identity.ts';
import { LazyLogger } from './http/request-logger.ts';
import { takeTurnsOfRequests, ValidKeys } from './http/request-turns.ts';
import { limitResponseTime } from './http/response-timeout.ts';
import { limitUnreadResponses } from './http/unread-responses.ts';
import { releaseRequest } from './limits/authentication.ts';
import type { ApiMetrics } from './metrics/metrics.ts';
import type { Services } from './services.ts';
import { isWebSocketRequest } from './stream/websocket.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Limits the time in which a TLS handshake completes, and in which a request arrives. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A subscription to a thousand addresses takes about 80 kB. */
const MAX_WEBSOCKET_MESSAGE_BYTES = 256 * 1024;
/** The default of Node, half a minute, would triple REQUEST_TIMEOUT_MS. */
const TIMEOUT_CHECK_MS = 2000;
const RESPONSE_TIMEOUT_MS = 15_000;
/** Longer than the time until a response. Sending and receiving have separate limits. */
const SILENCE_TIMEOUT_MS = 30_000;
/** Longer than the 60 seconds of load balancers, which must close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const HOST_IS_MISSING = 'The header Host is missing';

interface ServerOptions {
  services: Services;
  logger: Logger;
  metrics: ApiMetrics;
  certificate?: Certificate | undefined;
  /** Origins of pages that may call the API from a browser; none by default. */
  corsOrigins?: readonly string[] | undefined;
  /** Reverse proxies whose `x-forwarded-for` names the client; none by default. */
  trustProxy?: readonly string[] | undefined;
  /** Processes that serve the same port and divide the limits among them; default 1. */
  workers?: number;
  /** Connections that the limit of open files leaves room for; default: any number. */
  room?: number;
}

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { services, logger, certificate, corsOrigins, trustProxy, workers = 1 } = options;
  const { room = Number.POSITIVE_INFINITY } = options;
  const loggerInstance: FastifyBaseLogger = new LazyLogger(() => logger);
  const protocol = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    // Any other upgrade is ignored, such as the one to HTTP/2 that Java's client offers with every
    // request.
    shouldUpgradeCallback: isWebSocketRequest,
    // Node's own refusal has no body.
    requireHostHeader: false,
  };
  const app = Fastify({
    ...(certificate === undefined
      ? { http: protocol }
      : {
          https: { ...protocol, handshakeTimeout: REQUEST_TIMEOUT_MS, cert: certificate.cert, key: certificate.key },
        }),
    loggerInstance,
    trustProxy: trustProxy === undefined ? false : [...trustProxy],
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    rewriteUrl: localUrl,
    clientErrorHandler: respondClientError,
    bodyLimit: MAX_BODY_BYTES,
    // The default of ten seconds would end the program on a busy machine, and the restart would
    // take as long.
    pluginTimeout: 0,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // During shutdown, requests on open connections are served as usual, and then the connections
    // are closed.
    return503OnClosing: false,
    // Any parameter may be that long, so that invalid ones get their own message.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  });
  app.decorate('accessLog', accessLogOf(logger));
  const wanted = wantedConnections(workers, services.streams.maxStreams);
  limitConnections(app, Math.min(wanted, room));
  if (room < wanted)
    logger.warn(
      { connections: room, wanted },
      'the limit of open files allows fewer connections: raise it (ulimit -n)',
    );
  // Node refuses an expectation that it does not know without a body. It may be ignored (RFC 9110
  // §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.removeContentTypeParser('text/plain');
  parseJsonBodies(app);
  const keys = new ValidKeys();
  addHooks(app, options, keys);
  await compressResponses(app);
  if (corsOrigins !== undefined) await app.register(fastifyCors, corsOptions(corsOrigins));
  await app.register(fastifyWebsocket, {
    options: { maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES, perMessageDeflate: false },
  });
  await app.register(api, services);
  takeTurnsOfRequests(app, keys, trustProxy);
  return app;
}

/**
 * Adds one hook for each stage of every request: Fastify takes longer to run a hook than most of
 * these steps take.
 */
function addHooks(
  app: FastifyInstance,
  { services, metrics, workers, trustProxy }: ServerOptions,
  keys: ValidKeys,
): void {
  const timeouts = limitResponseTime(app, RESPONSE_TIMEOUT_MS);
  const unread = limitUnreadResponses(app, (reason) => metrics.cutOffResponses.inc({ reason }), workers);

  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request.raw;
    if (trustProxy !== undefined) normalizeForwardedFor(headers);
    if (headers['content-type'] !== undefined || headers['content-encoding'] !== undefined)
      ignoreHeadersOfNoBody(headers);
    timeouts.begin(reply);
    reply.header(REQUEST_ID_HEADER, request.id);
    // Uncompressed responses have it, too, since another client may get the same response
    // compressed.
    reply.header('vary', 'accept-encoding');
    // Requests that are refused, or need no key, cost nothing.
    reply.header('x-request-cost-ru', '0');
    if (headers.host === undefined && request.raw.httpVersion === '1.1') done(new HttpError(400, HOST_IS_MISSING));
    else done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!timeouts.end(reply)) return;
    // The connection closed before there was a response, so that its `close` did not release the
    // request.
    if (reply.raw.destroyed) releaseRequest(request, services.admission);
    done(null, unread.begin(request, reply, payload));
  });
  app.addHook('onResponse', (request, reply, done) => {
    unread.end(reply);
    keys.observe(request);
    observe(metrics, request, reply);
    logAccess(request, reply);
    done();
  });
}

function observe(metrics: ApiMetrics, request: FastifyRequest, reply: FastifyReply): void {
  const { url: route = 'unknown' } = request.routeOptions;
  metrics.requestSeconds.observe(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
  // Only requests with a key have these.
  if (request.refusal) metrics.refusedRequests.inc({ reason: request.refusal });
  if (request.spentRu) metrics.spent.units += request.spentRu;
}

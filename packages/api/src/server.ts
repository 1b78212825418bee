/** The HTTP server: limits that keep a request from hanging or growing, the access log, the request metrics. */
import { randomUUID } from 'node:crypto';
import type { Logger } from '@kasgres/runtime';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { api } from './app.ts';
import { answerBadUrl, answerClientError } from './http/protocol-errors.ts';
import type { ApiMetrics } from './metrics.ts';
import type { Services } from './services.ts';

const MAX_BODY_BYTES = 2 ** 20;
/** For the request to arrive. */
const REQUEST_TIMEOUT_MS = 10_000;
/** For the answer, whatever the database and the node do. */
const ANSWER_TIMEOUT_MS = 15_000;
/** Longer than any address, so that a wrong one is told to be wrong. */
const MAX_PARAMETER_LENGTH = 1000;

export interface ServerOptions {
  services: Services;
  logger: Logger;
  metrics: ApiMetrics;
}

/** Not listening yet. */
export async function createServer({ services, logger, metrics }: ServerOptions): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerClientError,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    handlerTimeout: ANSWER_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
  });
  app.removeContentTypeParser('text/plain');
  app.addHook('onResponse', async (request, reply) => {
    observe(metrics, request, reply);
    logAccess(request, reply);
  });
  closeConnectionsAtTheEnd(app);
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
}

/** Never the key: its number in the database tells whose request it was. */
function logAccess(request: FastifyRequest, reply: FastifyReply): void {
  const fields = {
    method: request.method,
    url: request.url,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    apiKeyId: request.apiKey?.id,
  };
  request.log.info(fields, 'answered');
}

/**
 * Metrics and probes on a separate port, so that they are never exposed with the API: `/healthz`
 * (the process responds), `/readyz` (200, or 503 with the reason), `/metrics` (Prometheus text).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { toListenError } from './listen-error.ts';
import type { Logger } from './logger.ts';

export { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of a registry as plain data. */
export type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * Creates a registry with the process's own figures (CPU, memory, event loop), every series
 * labelled with the program.
 */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  return registry;
}

export type Readiness = { ready: true } | { ready: false; reason: string };

export interface ProbesOptions {
  host?: string;
  /** 0 takes a free one. */
  port: number;
  registry: Pick<Registry, 'metrics' | 'contentType'>;
  /** Logs the URL of the metrics, whose port may not be known otherwise. */
  logger?: Logger;
  /** Called at each request. If it throws, the process is not ready. */
  ready: () => Readiness | Promise<Readiness>;
  /** Once it is aborted the process is not ready, regardless of `ready`. */
  signal?: AbortSignal;
}

export interface Probes {
  port: number;
  close: () => Promise<void>;
}

/** Further ones are closed at once, so that they take no files from the program. */
const MAX_CONNECTIONS = 32;

/**
 * @throws {FatalError} if METRICS_PORT is taken, or METRICS_HOST is not an address of this machine
 */
export async function startProbes(options: ProbesOptions): Promise<Probes> {
  const { host = '127.0.0.1', port, logger } = options;
  const server = createServer((request, response) => {
    // An exception in this callback would end the process; a rejection gets a 500.
    respond(request, response, options).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  server.keepAliveTimeout = 1000;
  server.maxConnections = MAX_CONNECTIONS;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // Stays registered: a connection that cannot be accepted is an 'error' event, too, which would
  // end the process without a listener.
  server.on('error', reject).listen(port, host, () => resolve());
  await listening.catch((error: unknown) => {
    throw toListenError(error, { host, port, variable: 'METRICS_PORT' });
  });
  const { address, family, port: chosenPort } = server.address() as AddressInfo;
  logger?.info(
    { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${chosenPort}/metrics` },
    'serving metrics',
  );
  return {
    port: chosenPort,
    close: async () => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, options: ProbesOptions): Promise<void> {
  // Not parsed as a URL: a client may send anything, and `//` is not a URL.
  const [path] = (request.url ?? '/').split('?', 1);
  if (path === '/metrics') {
    send(response, 200, await options.registry.metrics(), options.registry.contentType);
  } else if (path === '/healthz') {
    send(response, 200, 'ok');
  } else if (path === '/readyz') {
    const readiness = await checkReadiness(options);
    send(response, readiness.ready ? 200 : 503, readiness.ready ? 'ready' : readiness.reason);
  } else {
    send(response, 404, 'not found');
  }
}

async function checkReadiness({ ready, signal }: ProbesOptions): Promise<Readiness> {
  if (signal?.aborted === true) return { ready: false, reason: 'shutting down' };
  try {
    return await ready();
  } catch (error) {
    return { ready: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function send(response: ServerResponse, status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType }).end(body.endsWith('\n') ? body : `${body}\n`);
}

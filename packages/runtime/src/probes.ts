/**
 * What a supervisor asks a process, on a port of its own so that it is never exposed with the API: `/healthz` (the process
 * answers), `/readyz` (it can do its work; if not, 503 and why), `/metrics` (Prometheus text).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export type Readiness = { ready: true } | { ready: false; reason: string };

export interface ProbesOptions {
  host?: string;
  /** 0 takes a free one. */
  port: number;
  registry: Registry;
  /** Asked at each request. One that throws counts as not ready. */
  ready: () => Readiness | Promise<Readiness>;
  /** Once aborted the process is not ready any more, whatever `ready` says. */
  signal?: AbortSignal;
}

export interface Probes {
  port: number;
  close: () => Promise<void>;
}

/** @throws when the port is taken */
export async function startProbes(options: ProbesOptions): Promise<Probes> {
  const { host = '127.0.0.1', port } = options;
  const server = createServer((request, response) => {
    // Asynchronous, so that whatever a request makes throw is a rejection, which is answered; thrown here it would end the process.
    answer(request, response, options).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  server.keepAliveTimeout = 1000;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // Kept after listening has begun: a connection that cannot be accepted is an error too, and without a listener it ends the process.
  server.on('error', reject).listen(port, host, () => resolve());
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: ProbesOptions): Promise<void> {
  const path = pathOf(request);
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

/** Without the query. Not parsed as a URL: a client may send anything, and `//` is none. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const [path = ''] = url.split('?', 1);
  return path;
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

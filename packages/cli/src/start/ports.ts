/**
 * Checks the ports that the operator has set before anything is started. All other programs listen
 * on a free port that they choose themselves: one that is looked for here could be taken before
 * they use it.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { FatalError, toListenError } from '@kasgres/runtime';
import type { CliEnv } from '../env.ts';

const PORTS_TO_TRY = 100;
const MAX_PORT = 65_535;
const METRICS_HOST = '127.0.0.1';
/** The values of HOST with which the API listens on the address of the metrics. */
const METRICS_SHARE_HOST = new Set([METRICS_HOST, 'localhost', '0.0.0.0', '::']);

/** @throws {FatalError} if a port is taken, or HOST is not an address of this machine */
export async function checkPorts({ HOST, PORT, METRICS_PORT }: CliEnv): Promise<void> {
  await checkPortIsFree('PORT', HOST, PORT);
  const { api, indexer } = metricsPorts(METRICS_PORT);
  for (const port of [api, indexer]) {
    if (port === PORT && METRICS_SHARE_HOST.has(HOST))
      throw new FatalError(
        `METRICS_PORT=${METRICS_PORT} takes the ports ${api} and ${indexer}, and PORT=${PORT} is one of them. Set METRICS_PORT=${PORT + 1}.`,
      );
    await checkPortIsFree('METRICS_PORT', METRICS_HOST, port);
  }
}

/** Returns the METRICS_PORT of each program; 0 means any free port. */
export function metricsPorts(port: number): Record<'api' | 'indexer', number> {
  return { api: port, indexer: port === 0 ? 0 : port + 1 };
}

async function checkPortIsFree(variable: `${string}PORT`, host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw portProblem(variable, host, port, error, await findFreePort(host, port));
  } finally {
    server.close();
  }
}

/** Returns the next port on which nothing listens; undefined if it is not near. */
async function findFreePort(host: string, taken: number): Promise<number | undefined> {
  for (let port = taken + 1; port <= Math.min(taken + PORTS_TO_TRY, MAX_PORT); port += 1) {
    const server = createServer();
    try {
      await once(server.listen({ host, port, exclusive: true }), 'listening');
      return port;
    } catch {
      // The next one may be free.
    } finally {
      server.close();
    }
  }
  return undefined;
}

function portProblem(
  variable: `${string}PORT`,
  host: string,
  port: number,
  error: unknown,
  freePort: number | undefined,
): FatalError {
  const problem = toListenError(error, { host, port, variable, freePort });
  if (problem instanceof FatalError) return problem;
  return new FatalError(`Cannot listen on port ${port} of ${host} (${variable}): ${String(error)}`);
}

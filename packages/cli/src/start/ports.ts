/**
 * Checks the ports that the operator has set before anything is started. All other programs listen on a free port that they choose
 * themselves: one that is looked for here could be taken before they use it.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { FatalError, toListenError } from '@kasgres/runtime';
import type { CliEnv } from '../env.ts';

/** @throws {FatalError} if a port is taken, or HOST is not an address of this machine */
export async function checkPorts({ HOST, PORT, METRICS_PORT }: CliEnv): Promise<void> {
  await checkPortIsFree('PORT', HOST, PORT);
  const { api, indexer } = metricsPorts(METRICS_PORT);
  for (const port of [api, indexer]) await checkPortIsFree('METRICS_PORT', '127.0.0.1', port);
}

/** Returns the METRICS_PORT of each program; 0 means any free port. */
export function metricsPorts(port: number): Record<'api' | 'indexer', number> {
  return { api: port, indexer: port === 0 ? 0 : port + 1 };
}

async function checkPortIsFree(variable: string, host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw portProblem(variable, host, port, error);
  } finally {
    server.close();
  }
}

function portProblem(variable: string, host: string, port: number, error: unknown): FatalError {
  const problem = toListenError(error, { host, port, variable });
  if (problem instanceof FatalError) return problem;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new FatalError(`${host} is not an address of this machine. Set HOST to one, such as 127.0.0.1 or 0.0.0.0.`);
  }
  return new FatalError(`Cannot listen on port ${port} of ${host} (${variable}): ${String(error)}`);
}

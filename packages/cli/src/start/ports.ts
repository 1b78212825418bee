/** Checks that TCP ports are free, and finds free ones. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { FatalError } from '@kasgres/runtime';
import type { CliEnv } from '../env.ts';

async function checkPortIsFree(variable: string, host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw new FatalError(portProblem(variable, host, port, error));
  } finally {
    server.close();
  }
}

function portProblem(variable: string, host: string, port: number, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return `Port ${port} on ${host} is in use by another program. Set ${variable} to a free one, such as ${variable}=${port + 1}.`;
  }
  if (code === 'EACCES') return `This user may not open port ${port}. Set ${variable} to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${host} is not an address of this machine. Set HOST to one, such as 127.0.0.1 or 0.0.0.0.`;
  }
  return `Cannot listen on port ${port} of ${host} (${variable}): ${String(error)}`;
}

/** Returns different free ports on the loopback interface, none of them `taken`. Another program may take one before it is used. */
export async function findFreePorts(count: number, taken: readonly number[]): Promise<number[]> {
  const servers = Array.from({ length: count + taken.length }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports.filter((port) => !taken.includes(port)).slice(0, count);
}

export type Ports = Awaited<ReturnType<typeof choosePorts>>;

/** Returns the ports of the environment, which must be free, and free ones for the rest, so that two demos do not collide. */
export async function choosePorts(env: CliEnv) {
  await checkPortIsFree('PORT', env.HOST, env.PORT);
  const metrics = env.METRICS_PORT === undefined ? [] : [env.METRICS_PORT, env.METRICS_PORT + 1];
  for (const port of metrics) await checkPortIsFree('METRICS_PORT', '127.0.0.1', port);
  const free = await findFreePorts(4, [env.PORT, ...metrics]);
  const [apiMetrics, indexerMetrics, postgres, node] = [...metrics, ...free] as [number, number, number, number];
  return { apiMetrics, indexerMetrics, postgres, node };
}

/**
 * Opens the port. Node accepts one connection of a listening socket in each turn of the event loop:
 * a client that opens thousands would make others wait for a minute on a busy process. So there are
 * several sockets on the port, among which Linux divides new connections.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import {
  type AddressInfo,
  createServer,
  type ListenOptions as NetListenOptions,
  type Server,
  type Socket,
} from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface ListenOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** How many sockets listen, if they can share a port. */
  sockets: number;
}

/**
 * Workers get their connections from the primary process, which does nothing else.
 * @throws the error of the system if the port cannot be opened
 */
export async function listen(app: FastifyInstance, { host, port, sockets }: ListenOptions): Promise<void> {
  if (cluster.isWorker || process.platform !== 'linux') {
    await app.listen({ host, port });
    return;
  }
  // A socket that shares its port opens beside those of another process of the same user, instead
  // of failing.
  if (port !== 0) await close(await open(createServer(), { host, port }));
  const more: Server[] = [];
  const closed: Promise<void>[] = [];
  const accept = (socket: Socket): void => void app.server.emit('connection', socket);
  app.addHook('preClose', async () => void closed.push(...more.map(close)));
  app.addHook('onClose', async () => void (await Promise.all(closed)));
  const shared = { host, port, reusePort: true };
  await app.listen(shared);
  const address = app.server.address() as AddressInfo;
  while (more.length < sockets - 1) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    try {
      more.push(await open(server, { host: address.address, port: address.port, reusePort: true }));
    } catch {
      // Versions of Node before 22.12 share no ports: one socket is enough to serve.
      return;
    }
  }
}

async function open(server: Server, options: NetListenOptions): Promise<Server> {
  await once(server.listen(options), 'listening');
  return server;
}

/** Resolves when the last connection has ended. */
async function close(server: Server): Promise<void> {
  await once(server.close(), 'close');
}

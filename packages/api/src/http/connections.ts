/**
 * Limits connections. They stay below the limit of open files with a reserve for the database and
 * the nodes: otherwise idle clients could take all files, and every request would find the database
 * out of reach.
 */
import type { Server, Socket } from 'node:net';
import { FatalError } from '@kasgres/runtime';
import type { FastifyInstance } from 'fastify';

/** Beside streams. An idle connection takes about 20 kB. */
const MAX_CONNECTIONS = 10_000;

/**
 * Files of Node.js (about 25), connections to databases that are not for responses
 * (limits/connections.ts, 10), and those of probes.
 */
const OTHER_FILES = 39;
/** With fewer, hardly a request would find a connection. */
const MIN_CONNECTIONS = 4;

/** Files for each socket that listens (listen.ts): they are few where files are. */
const FILES_PER_LISTENER = 64;
/** With 64, clients waited for seconds while another one opened connections in bursts. */
const MAX_LISTENERS = 256;

/** Returns at how many sockets a process accepts connections. */
export const listenersFor = (fileLimit: number): number =>
  Math.min(Math.max(Math.floor(fileLimit / FILES_PER_LISTENER), 1), MAX_LISTENERS);

interface Room {
  fileLimit: number;
  readConnections: number;
  /** To all nodes together. */
  nodeConnections: number;
}

/**
 * Returns how many connections a process may have for clients.
 * @throws FatalError if the limit of open files leaves no room for any
 */
export function roomForConnections({ fileLimit, readConnections, nodeConnections }: Room): number {
  const free = fileLimit - OTHER_FILES - listenersFor(fileLimit) - nodeConnections;
  // A connection of a client uses at most one for responses.
  const room = Math.max(free - readConnections, Math.floor(free / 2));
  if (room >= MIN_CONNECTIONS) return room;
  throw new FatalError(
    `The limit of ${fileLimit} open files leaves no room for connections of clients. Raise it, such as with \`ulimit -n 20000\`.`,
  );
}

/** Returns how many connections a process would have with a sufficient limit of open files. */
export const wantedConnections = (workers: number, maxStreams: number): number =>
  Math.ceil(MAX_CONNECTIONS / workers) + maxStreams;

/**
 * How long a server that closes waits for its clients: longer than a response may take, and short
 * enough to write the usage of keys before the program has to exit.
 */
const CLOSE_WITHIN_MS = 18_000;

interface ClosableServer extends Server {
  closeIdleConnections?: () => void;
}

/**
 * Has at most `limit` connections. When they are in use, one makes room for the next client: one
 * that has sent nothing yet, such as those that browsers open in advance, or else those without a
 * request in progress. If there are none, the next client's connection is closed at once.
 */
export function limitConnections(app: FastifyInstance, limit: number, closeWithinMs = CLOSE_WITHIN_MS): void {
  const server: ClosableServer = app.server;
  /** The oldest first. */
  const sockets = new Set<Socket>();
  server.maxConnections = limit;
  // Otherwise a worker would return the connection to the primary process, which would offer it
  // again and again.
  Object.assign(server, { dropMaxConnection: true });
  server.on('connection', (socket: Socket) => {
    // `maxConnections` does not count those of the other sockets of the port (listen.ts).
    if (sockets.size >= limit) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (sockets.size >= limit) makeRoom(socket);
  });
  const makeRoom = (newest: Socket): void => {
    for (const socket of sockets) {
      if (socket === newest || socket.bytesRead > 0) continue;
      socket.destroy();
      return;
    }
    server.closeIdleConnections?.();
  };
  closeConnectionsOnShutdown(app, server, sockets, closeWithinMs);
}

/**
 * Closing the server waits for every connection. A busy one is closed when its response has been
 * sent, or when that takes too long, as that of a WebSocket whose client has fallen silent. Node
 * does not count a connection as idle before its first request, such as those that browsers open in
 * advance.
 */
function closeConnectionsOnShutdown(
  app: FastifyInstance,
  server: ClosableServer,
  sockets: ReadonlySet<Socket>,
  withinMs: number,
): void {
  app.addHook('preClose', async () => {
    const endAt = performance.now() + withinMs;
    const timer = setInterval(() => {
      server.closeIdleConnections?.();
      const isLate = performance.now() > endAt;
      for (const socket of sockets) if (isLate || socket.bytesRead === 0) socket.destroy();
      if (sockets.size === 0 && !server.listening) clearInterval(timer);
    }, 50);
  });
}

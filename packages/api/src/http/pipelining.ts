/**
 * Requests that a client pipelines on one connection are served one after the other: the next begins when the response before it has been
 * read. Otherwise a single connection could have any number of whole responses in memory, since Node lets them run at once and keeps what
 * may not be sent yet.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Requests that may wait on a connection. Hardly any client pipelines; one that sends more is cut off. */
const MAX_WAITING = 32;

/** Must be the first hook: a request that waits has cost nothing yet, and none of its time has passed. */
export function serveInTurn(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();

  app.addHook('onRequest', (request, reply, done) => {
    // Node gives a response its socket when all earlier ones on the connection are over.
    if (reply.raw.socket !== null) {
      done();
      return;
    }
    const { socket } = request.raw;
    const others = waiting.get(socket) ?? 0;
    if (others >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, others + 1);
    // If the connection ends before, the request is never continued, and nothing holds it in memory.
    reply.raw.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      process.nextTick(done);
    });
  });
}

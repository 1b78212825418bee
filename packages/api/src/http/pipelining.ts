/**
 * Serves pipelined requests of a connection one after the other: each begins when the response before it has been read. Node runs them at once
 * and buffers their responses, so that one connection could fill the memory.
 */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Requests that may wait on a connection. Hardly any client pipelines; one that sends more is disconnected. */
const MAX_WAITING = 32;

/** Returns a function that begins a request in its turn. It must come first, so that a waiting request has cost nothing and its timeout has not started. */
export function serveOneAtATime(): (request: FastifyRequest, reply: FastifyReply, begin: () => void) => void {
  const waiting = new WeakMap<Socket, number>();

  return (request, reply, begin) => {
    // Node assigns the socket to a response when all previous ones on the connection have finished.
    if (reply.raw.socket !== null) {
      begin();
      return;
    }
    const { socket } = request.raw;
    const others = waiting.get(socket) ?? 0;
    if (others >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, others + 1);
    // If the connection closes before, the request is never continued, and nothing keeps it in memory.
    reply.raw.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      process.nextTick(begin);
    });
  };
}

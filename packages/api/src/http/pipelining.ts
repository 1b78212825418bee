/**
 * Serves pipelined requests of a connection one after the other: each begins when the response
 * before it has been read. Node runs them at once and buffers their responses, so that one
 * connection could fill the memory.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that may wait on a connection. Hardly any client pipelines; one that sends more is
 * disconnected.
 */
const MAX_WAITING = 32;

const latest = new WeakMap<Socket, ServerResponse>();

/** Returns the response to the latest request of a connection, unless it has been sent. */
export function findPendingResponse(socket: Socket): ServerResponse | undefined {
  const response = latest.get(socket);
  return response?.writableFinished === true ? undefined : response;
}

/**
 * Returns a function that begins a request when it is the first one of its connection. It must come
 * first, so that a waiting request has cost nothing.
 */
export function serveOneAtATime(): (request: IncomingMessage, response: ServerResponse, begin: () => void) => void {
  const waiting = new WeakMap<Socket, number>();

  return ({ socket }, response, begin) => {
    latest.set(socket, response);
    // Node assigns the socket to a response when all previous ones on the connection have finished.
    if (response.socket !== null) {
      begin();
      return;
    }
    const others = waiting.get(socket) ?? 0;
    if (others >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, others + 1);
    // If the connection closes before, the request is never continued, and nothing keeps it in
    // memory.
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      process.nextTick(begin);
    });
  };
}

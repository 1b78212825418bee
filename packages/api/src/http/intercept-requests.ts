import type { IncomingMessage, Server, ServerResponse } from 'node:http';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Receives each request instead of the listeners that a server has. `next` passes it on to them, at
 * any time.
 */
export function interceptRequests(
  server: Server,
  intercept: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
): void {
  const listeners = server.listeners('request') as Listener[];
  if (listeners.length === 0) throw new Error('the server has no listener of requests');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    intercept(request, response, () => {
      for (const listener of listeners) listener(request, response);
    });
  });
}

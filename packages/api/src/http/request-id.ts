/**
 * The id of a request, which its answer, its log lines and the message of a 500 carry: the client's own if it sent one that is fit to be
 * repeated, else a new one.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

export const REQUEST_ID_HEADER = 'x-request-id';

const FIT_TO_REPEAT = /^[\w-]{1,64}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && FIT_TO_REPEAT.test(sent) ? sent : randomUUID();
}

/** Sets the header of every answer that hooks can reach; protocol-errors.ts does it for the others. */
export function respondWithRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header(REQUEST_ID_HEADER, request.id);
  });
}

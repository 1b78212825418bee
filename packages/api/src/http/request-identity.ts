/** The id of a request, and whose request it is. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

export const REQUEST_ID_HEADER = 'x-request-id';

const VALID_ID = /^[\w-]{1,64}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && VALID_ID.test(sent) ? sent : randomUUID();
}

/** Returns the name under which a request takes turns with others: requests that are limited together have the same. */
export const callerOf = ({ apiKey }: Pick<FastifyRequest, 'apiKey'>): string => apiKey?.bucket.name ?? 'anonymous';

export const pathOf = ({ url }: Pick<FastifyRequest, 'url'>): string => url.split('?', 1)[0] ?? '';

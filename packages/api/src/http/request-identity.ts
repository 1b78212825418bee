/** The id of a request, and whose request it is. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

export const REQUEST_ID_HEADER = 'x-request-id';

const VALID_ID = /^[\w-]{1,64}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && VALID_ID.test(sent) ? sent : randomUUID();
}

/** Returns the name under which a request takes turns with others: requests that are limited together have the same. */
export const callerOf = ({ apiKey }: Pick<FastifyRequest, 'apiKey'>): string => apiKey?.bucket.name ?? 'anonymous';

export const pathOf = ({ url }: Pick<FastifyRequest, 'url'>): string => url.split('?', 1)[0] ?? '';

const IPV6_NETWORK_GROUPS = 4;

/** Returns the name of a client by its address. An IPv6 client usually has a whole /64, so that counts as one. */
export function clientOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

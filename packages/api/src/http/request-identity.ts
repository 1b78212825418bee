/** The id of a request, and whose request it is. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import proxyAddr from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

export const REQUEST_ID_HEADER = 'x-request-id';

const VALID_ID = /^[\w-]{1,64}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && VALID_ID.test(sent) ? sent : randomUUID();
}

/**
 * Returns the name under which a request takes turns with others: requests that are limited
 * together have the same.
 */
export const callerOf = ({ apiKey }: Pick<FastifyRequest, 'apiKey'>): string => apiKey?.bucket.name ?? 'anonymous';

export const pathOf = ({ url }: Pick<FastifyRequest, 'url'>): string => url.split('?', 1)[0] ?? '';

/** The beginning of a URL that a client sends as to a proxy (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*\/?/i;

/**
 * Returns the URL of a request from its path on, which can be decoded: a path whose
 * percent-encoding is invalid is taken as it is. So such a request is charged and refused like one
 * with any other invalid parameter.
 */
export function localUrl({ url: sent = '' }: Pick<IncomingMessage, 'url'>): string {
  const url = sent.replace(ORIGIN, '/');
  if (!url.includes('%')) return url;
  const path = pathOf({ url });
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

const IPV6_NETWORK_GROUPS = 4;

/**
 * Returns the name of a client by its address. An IPv6 client usually has a whole /64, so that
 * counts as one.
 */
export function clientOf(ip: string): string {
  const plain = withoutZone(ip);
  if (!ipaddr.isValid(plain)) return ip;
  const address = ipaddr.process(plain);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** The zone after an IPv6 address may be any text (RFC 4007 §11). */
const withoutZone = (address: string): string => address.split('%', 1)[0] ?? '';

const FORWARDED_FOR = 'x-forwarded-for';
/**
 * An IPv4 address with a port, or an IPv6 address in brackets with or without one, as some proxies
 * write them.
 */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?)$/i;

/**
 * Leaves only addresses in `x-forwarded-for`, without ports, so that Fastify's `request.ip` is
 * always an address. Proxies append to the header, so text that is not an address, and everything
 * before it, is removed: the request then counts as that of the proxy after it. `Forwarded` is not
 * read, since most proxies pass on what the client sent.
 */
export function normalizeForwardedFor(headers: IncomingHttpHeaders): void {
  const sent = headers[FORWARDED_FOR];
  if (sent === undefined) return;
  const addresses: string[] = [];
  for (const text of String(sent).split(',').toReversed()) {
    const trimmed = text.trim();
    const [, v4, v6] = WITH_PORT.exec(trimmed) ?? [];
    const address = withoutZone(v4 ?? v6 ?? trimmed);
    if (isIP(address) === 0) break;
    addresses.push(address);
  }
  if (addresses.length === 0) delete headers[FORWARDED_FOR];
  else headers[FORWARDED_FOR] = addresses.toReversed().join(', ');
}

/**
 * Returns a function that finds the address of the client before Fastify does, as `request.ip`.
 * @param proxies whose headers are believed
 */
export function clientAddresses(proxies: readonly string[] | undefined): (request: IncomingMessage) => string {
  if (proxies === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted = proxyAddr.compile([...proxies]);
  return (request) => {
    // The client has disconnected.
    if (request.socket.remoteAddress === undefined) return '';
    normalizeForwardedFor(request.headers);
    return proxyAddr(request, isTrusted);
  };
}

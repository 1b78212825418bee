/**
 * Configures which origins may call the API from a browser, and which headers their pages may send
 * and read.
 */
import type { FastifyCorsOptions } from '@fastify/cors';
import { REQUEST_ID_HEADER } from './request-identity.ts';
import { RESPONSE_HEADERS } from './responses.ts';

const REQUEST_HEADERS = ['x-api-key', 'content-type', 'if-none-match', 'last-event-id', REQUEST_ID_HEADER];
/**
 * Pages that were made for kaspa-rest-server send these two with every request, and read the
 * others.
 */
const REST_SERVER_REQUEST_HEADERS = ['access-control-allow-origin', 'cache-control'];
const REST_SERVER_RESPONSE_HEADERS = ['x-next-page-after', 'x-next-page-before', 'x-page-count'];
const PREFLIGHT_SECONDS = 7200;

/** `:*` is allowed on the local machine only, since ports of other hosts may belong to others. */
const ANY_PORT = /^(?<host>https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*$/;

/**
 * Returns whether the text is a scheme and a host as browsers send them, `http://localhost:*` or
 * the like, or `*` for all.
 */
export function isCorsOrigin(text: string): boolean {
  if (text === '*' || ANY_PORT.test(text)) return true;
  // Any other asterisk would be part of a name that no page has.
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}

/** @param origins each valid by `isCorsOrigin` */
export function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: origins.map(toMatcher),
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [...REQUEST_HEADERS, ...REST_SERVER_REQUEST_HEADERS],
    exposedHeaders: ['allow', ...RESPONSE_HEADERS, ...REST_SERVER_RESPONSE_HEADERS],
    maxAge: PREFLIGHT_SECONDS,
    // OPTIONS requests of other clients get the same response as those of browsers.
    strictPreflight: false,
  };
}

function toMatcher(origin: string): string | RegExp {
  const host = ANY_PORT.exec(origin)?.groups?.['host'];
  return host === undefined ? origin : new RegExp(`^${host.replace(/[.[\]]/g, String.raw`\$&`)}(?::\\d{1,5})?$`);
}

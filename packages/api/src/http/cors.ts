/** Which pages of which origins may call the API from a browser, and which of its headers they may read. */
import type { FastifyCorsOptions } from '@fastify/cors';
import { REQUEST_ID_HEADER } from './request-id.ts';

const REQUEST_HEADERS = ['x-api-key', 'content-type', 'if-none-match', REQUEST_ID_HEADER];
const RESPONSE_HEADERS = [
  'allow',
  'etag',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'x-kasgres-gaps',
  'x-kasgres-sink',
  'x-request-cost-ru',
  REQUEST_ID_HEADER,
];
/** How long a browser need not ask again whether it may. */
const PREFLIGHT_SECONDS = 7200;

/** Any port, of this machine alone: elsewhere another port is another one's. */
const ANY_PORT = /^(?<host>https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*$/;

/** As browsers send it, a scheme and a host with nothing after them; or `http://localhost:*`; or `*` for all. */
export function isCorsOrigin(text: string): boolean {
  return text === '*' || ANY_PORT.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** @param origins all of them as `isCorsOrigin` has them */
export function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: origins.map(toMatcher),
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // An OPTIONS request that is none of a browser's is answered like one.
    strictPreflight: false,
  };
}

function toMatcher(origin: string): string | RegExp {
  const host = ANY_PORT.exec(origin)?.groups?.['host'];
  return host === undefined ? origin : new RegExp(`^${RegExp.escape(host)}(?::\\d{1,5})?$`);
}

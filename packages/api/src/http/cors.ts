/** Which pages of which origins may call the API from a browser, and which of its headers they may read. */
import type { FastifyCorsOptions } from '@fastify/cors';
import { REQUEST_ID_HEADER } from './request-id.ts';

const REQUEST_HEADERS = ['x-api-key', 'content-type', 'if-none-match', REQUEST_ID_HEADER];
const ANSWER_HEADERS = [
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

/** @param origins `https://example.org`, or `*` for all */
export function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: ANSWER_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // An OPTIONS request that is none of a browser's is answered like one.
    strictPreflight: false,
  };
}

/** What an endpoint may answer, declared with each route, so that openapi.json knows every status and TypeScript the answer's type. */
import { z } from 'zod';
import { MAX_DETAILS } from './list.ts';

export const errorEnvelope = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    details: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .max(MAX_DETAILS)
      .optional()
      .meta({ description: 'With status 400: which fields are wrong, and how; the first ones, if there are many' }),
  })
  .meta({ id: 'Error' });

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

/** By status, what an error of any endpoint means. */
export const ERRORS = {
  400: 'The request is not valid, and `details` names the fields; or the node refuses it, in its own words',
  401: '`x-api-key is missing from header` or `Invalid API key`',
  403: 'The key is read-only',
  404: 'Not found',
  409: 'Known, but what is indexed is not enough to answer, since it begins later or has a gap there (the message names the blocks); or the cursor is an address that holds nothing now',
  413: 'The body is larger than 1 MiB',
  415: 'The body is not `application/json`',
  429: 'The key has spent its request units; see `retry-after`',
  500: 'A bug; the message has the request id',
  503: 'The database or the node is out of reach, or nothing is indexed yet, or the catch-up from the start is not far enough; see `retry-after`',
} as const;

export type ErrorStatus = keyof typeof ERRORS;

export const NOT_MODIFIED = 'Unchanged since the `if-none-match` that was sent';

interface Responses<T extends z.ZodType> {
  200: T;
}

/**
 * The answers of an endpoint. Errors are thrown, never returned, and a 304 has no body: the type, which is that of what a handler
 * may return, leaves both out.
 */
export function answers<T extends z.ZodType>(ok: T, ...statuses: (ErrorStatus | 304)[]): Responses<T> {
  const others: Record<string, unknown> = {};
  for (const status of statuses) {
    others[status] =
      status === 304
        ? z.null().meta({ description: NOT_MODIFIED })
        : { description: ERRORS[status], content: { 'application/json': { schema: errorEnvelope } } };
  }
  return { 200: ok, ...others };
}

/** Statuses of every endpoint under a key; 400 also for a query where there may be none. */
export const UNDER_KEY = [400, 401, 429, 500, 503] as const;

/** Statuses that a request adds that a read-only key may not make. */
export const SUBMITS = [403] as const;

/** Statuses that a request with a body adds. */
export const WITH_BODY = [413, 415] as const;

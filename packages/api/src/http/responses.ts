/**
 * The statuses and headers of responses, with their descriptions for openapi.json.
 */
export const ERRORS = {
  400: 'The request is invalid: `details` names the fields. Or the node rejected it: the message is that of the node',
  401: '`x-api-key is missing from header` or `Invalid API key`',
  403: 'The API key is read-only',
  404: 'Not found',
  409: 'The request needs blocks that are not indexed, before the first indexed block or in a gap (the message names the blocks); or the cursor is an address that has no balance now',
  413: 'The body is larger than 1 MiB',
  415: 'The body is not `application/json`',
  426: 'The request opens no WebSocket',
  429: 'The key has spent its request units; see `retry-after`',
  500: 'Internal error; the message has the request id',
  503: 'The database or the node is unavailable, nothing is indexed yet, or the first catch-up has not finished; see `retry-after`',
} as const;

/** Statuses that any request may get before hooks run, without the headers of other responses. */
export const TRANSPORT_ERRORS: Readonly<Record<number, string>> = {
  408: 'The request did not arrive in time',
  431: 'The headers and the URL are larger than 16 KiB together',
};

export type ErrorStatus = keyof typeof ERRORS;

export const NOT_MODIFIED = 'Unchanged since the response whose tag was sent as `if-none-match`';

const NON_NEGATIVE = { type: 'number', minimum: 0 };

/** The headers of responses. `required` is true by default. */
export const HEADERS: Readonly<Record<string, { description: string; schema: object; required?: false }>> = {
  'x-request-id': { description: 'Identifies the request in the log', schema: { type: 'string' } },
  'x-request-cost-ru': {
    description: 'Cost of the request in request units; 0 if it was refused or needs no key',
    schema: NON_NEGATIVE,
  },
  'ratelimit-limit': {
    description: 'Request units per window, and the length of the window in seconds',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?;w=\\d+$', examples: ['500;w=1'] },
  },
  'ratelimit-remaining': { description: 'Request units left in this window', schema: NON_NEGATIVE },
  'ratelimit-reset': { description: 'Seconds until the window ends', schema: NON_NEGATIVE },
  'retry-after': {
    description: 'Seconds after which a retry may succeed',
    schema: { type: 'integer', minimum: 0 },
  },
  etag: {
    description: 'Changes when the response may have changed; send it as `if-none-match`',
    schema: { type: 'string', pattern: '^W/"[\\w-]+"$' },
  },
  'x-kasgres-sink': {
    description: 'Hash of the sink at which the response was read from the index',
    schema: { $ref: '#/components/schemas/Hash' },
  },
  'x-kasgres-gaps': {
    description: 'Number of gaps of the index, which `/v1/status` lists; absent if there are none',
    schema: { type: 'integer', minimum: 1 },
    required: false,
  },
};

export const RESPONSE_HEADERS: readonly string[] = Object.keys(HEADERS);

/** Headers of requests and answers, described once as components of the document, and which answer has which. */

interface Header {
  description: string;
  schema: object;
  /** Of every answer that it is declared for, unless it says no. */
  required?: false;
}

const HEADERS: Readonly<Record<string, Header>> = {
  'x-request-id': { description: 'Names the request in the log', schema: { type: 'string' } },
  'x-request-cost-ru': {
    description: 'What the request cost, in request units; 0 when it was refused or needs no key',
    schema: { type: 'number', minimum: 0 },
  },
  'ratelimit-limit': {
    description: 'Request units of the key in a window, and the window in seconds',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?;w=\\d+$', examples: ['500;w=1'] },
  },
  'ratelimit-remaining': {
    description: 'Request units left in this window',
    schema: { type: 'number', minimum: 0 },
  },
  'ratelimit-reset': {
    description: 'Seconds until the window ends',
    schema: { type: 'number', minimum: 0 },
  },
  'retry-after': {
    description: 'Seconds after which the same request may succeed',
    schema: { type: 'integer', minimum: 0 },
  },
  etag: {
    description: 'Changes when the answer may have changed; to be sent as `if-none-match`',
    schema: { type: 'string', pattern: '^W/"[\\w-]+"$' },
  },
  'x-kasgres-sink': {
    description: 'Hash of the sink that the answer speaks of',
    schema: { $ref: '#/components/schemas/Hash' },
  },
  'x-kasgres-gaps': {
    description:
      'How many stretches of the chain the index misses, which `/v1/status` lists; left out when it misses none',
    schema: { type: 'integer', minimum: 1 },
    required: false,
  },
};

const IF_NONE_MATCH = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'Entity tags of answers that one has: if one of them is still right, the answer is a 304 without a body',
  schema: { type: 'string' },
} as const;

/** Names of components: `x-request-id` is `XRequestId`. */
const componentName = (header: string): string =>
  header
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export const headerComponents: object = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [componentName(name), { required: true, ...header }]),
);

export const parameterComponents: object = { IfNoneMatch: IF_NONE_MATCH };

/** Of operations that answer a 304. */
export const ifNoneMatchReference = { $ref: '#/components/parameters/IfNoneMatch' } as const;

const OF_EVERY_RESPONSE = ['x-request-id', 'x-request-cost-ru'];
const OF_THE_INDEX = ['etag', 'x-kasgres-sink', 'x-kasgres-gaps'];
const OF_A_KEY = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
const OF_A_DELAY = ['retry-after'];

/** Before the key is known to be good, or while nobody can tell, its limit cannot be told. */
const WITHOUT_KEY = new Set([401, 500, 503]);
const WITH_DELAY = new Set([429, 503]);
const WITH_STATE = new Set([200, 304]);

/** The headers that answers of this status have. */
export function describeHeaders(status: number, operation: { isUnderKey: boolean; isFromIndex: boolean }): object {
  const names = [
    ...OF_EVERY_RESPONSE,
    ...(operation.isUnderKey && !WITHOUT_KEY.has(status) ? OF_A_KEY : []),
    ...(operation.isFromIndex && WITH_STATE.has(status) ? OF_THE_INDEX : []),
    ...(WITH_DELAY.has(status) ? OF_A_DELAY : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]));
}

/** Headers of responses, and responses other than a 200, which are components of the document. */
import { STATUS_CODES } from 'node:http';
import examples from '../generated/examples.json' with { type: 'json' };
import { ERRORS, type ErrorStatus, errorEnvelope, NOT_MODIFIED } from '../schemas/responses.ts';
import { describeSchema } from './schema.ts';

const NON_NEGATIVE = { type: 'number', minimum: 0 };

const HEADERS: Readonly<Record<string, { description: string; schema: object; required?: false }>> = {
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
    description: 'Hash of the sink at which the response was read',
    schema: { $ref: '#/components/schemas/Hash' },
  },
  'x-kasgres-gaps': {
    description: 'Number of gaps of the index, which `/v1/status` lists; absent if there are none',
    schema: { type: 'integer', minimum: 1 },
    required: false,
  },
};

/** `x-request-id` is `XRequestId`. */
const headerComponentName = (header: string): string =>
  header.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `404` is `NotFound`. */
const responseComponentName = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

export const headerComponents: object = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [headerComponentName(name), { required: true, ...header }]),
);

export const parameterComponents = {
  IfNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    required: false,
    description:
      'Entity tags of known responses: if one of them is still current, the response is a 304 without a body',
    schema: { type: 'string' },
  },
};

export const ifNoneMatchReference = { $ref: '#/components/parameters/IfNoneMatch' } as const;

/** The limits of the key are unknown before it is validated, and after an error of the server. */
const WITHOUT_KEY = new Set([401, 500, 503]);
const WITH_RETRY = new Set([429, 503]);
const WITH_STATE = new Set([200, 304]);

export function describeHeaders(status: number, needsKey: boolean, isFromIndex: boolean): object {
  const names = [
    'x-request-id',
    'x-request-cost-ru',
    ...(needsKey && !WITHOUT_KEY.has(status) ? ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'] : []),
    ...(isFromIndex && WITH_STATE.has(status) ? ['etag', 'x-kasgres-sink', 'x-kasgres-gaps'] : []),
    ...(WITH_RETRY.has(status) ? ['retry-after'] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${headerComponentName(name)}` }]));
}

/** Statuses that any request may get before hooks run, without the headers of other responses. */
const TRANSPORT_ERRORS: Readonly<Record<number, string>> = {
  408: 'The request did not arrive in time',
  431: 'The headers and the URL are larger than 16 KiB together',
};

const referenceOf = (status: number) => ({ $ref: `#/components/responses/${responseComponentName(status)}` });

export const transportReferences: object = Object.fromEntries(
  Object.keys(TRANSPORT_ERRORS).map((status) => [status, referenceOf(Number(status))]),
);

export const responseComponents: object = Object.fromEntries(
  [304, ...Object.keys(ERRORS), ...Object.keys(TRANSPORT_ERRORS)].map((key) => {
    const status = Number(key);
    return [responseComponentName(status), describe(status, true)];
  }),
);

/** Describes a response other than the 200. The components have the headers of operations with a key. */
export const describeOtherResponse = (status: number, needsKey: boolean): object =>
  needsKey ? referenceOf(status) : describe(status, false);

function describe(status: number, needsKey: boolean): object {
  const headers = describeHeaders(status, needsKey, true);
  if (status === 304) return { description: NOT_MODIFIED, headers };
  const errors = examples.errors.filter(({ statusCode }) => statusCode === status);
  const content = {
    schema: describeSchema(errorEnvelope, 'output'),
    ...(errors.length > 0 && {
      examples: Object.fromEntries(errors.map((error) => [error.message, { value: error }])),
    }),
  };
  const transport = TRANSPORT_ERRORS[status];
  return {
    ...(transport === undefined ? { description: ERRORS[status as ErrorStatus], headers } : { description: transport }),
    content: { 'application/json': content },
  };
}

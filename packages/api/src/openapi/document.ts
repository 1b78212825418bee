/** Builds the OpenAPI 3.1 document from the operations and their schemas. */
import { STATUS_CODES } from 'node:http';
import { errorEnvelope } from '@kasgres/reads';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import examples from '../generated/examples.json' with { type: 'json' };
import { ERRORS, type ErrorStatus, HEADERS, NOT_MODIFIED, TRANSPORT_ERRORS } from '../http/responses.ts';
import type { ExampleRequest } from './example-requests.ts';
import { info, tags } from './info.ts';
import type { AnyOperation, Callback } from './route.ts';
import { describeComponents, describeParameters, describeSchema } from './schema.ts';

/**
 * Requests and responses of the fixed simulated chain, by operationId: written by `npm run
 * generate:examples`, and checked by test/examples.
 */
const operationExamples = examples.operations as Record<string, ExampleRequest & { response?: unknown }>;

/** Returns an array to which every operation is added that is registered from here on. */
export function collectOperations(app: FastifyInstance): readonly AnyOperation[] {
  const operations: AnyOperation[] = [];
  app.addHook('onRoute', ({ method, config }) => {
    // Fastify adds a HEAD route for every GET.
    if (method !== 'HEAD' && config?.operation !== undefined && config.operation.isHidden !== true)
      operations.push(config.operation);
  });
  return operations;
}

/** @param requests replace those of the examples, by operationId */
export function describeApi(
  operations: readonly AnyOperation[],
  requests: Record<string, ExampleRequest> = {},
): object {
  const paths: Record<string, object> = {};
  for (const operation of operations) {
    const path = operation.url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation, requests) };
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key created by the operator' },
      },
      parameters: parameterComponents,
      headers: headerComponents,
      responses: responseComponents,
      schemas: describeComponents(),
    },
  };
}

function describeOperation(operation: AnyOperation, requests: Record<string, ExampleRequest>): object {
  const { operationId, summary, description, tag, cost, params, query, body, response, callback, isFromIndex } =
    operation;
  const example = requests[operationId] ?? operationExamples[operationId];
  const responseExample = operationExamples[operationId]?.response;
  const needsKey = cost !== undefined;
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(needsKey ? { 'x-request-cost-ru': cost } : { security: [] }),
    parameters: [
      ...describeParameters(params, 'path', example?.path),
      ...describeParameters(query, 'query', example?.query),
      ...(isFromIndex ? [ifNoneMatchReference] : []),
    ],
    ...(body && { requestBody: describeBody(body, example) }),
    responses: {
      200: {
        description: STATUS_CODES[200],
        headers: describeHeaders(200, needsKey, isFromIndex),
        content: {
          [operation.responseType ?? 'application/json']: {
            schema: describeSchema(response, 'output'),
            ...(responseExample !== undefined && { example: responseExample }),
          },
          ...(operation.alternativeType && { [operation.alternativeType]: { schema: { type: 'string' } } }),
        },
      },
      ...Object.fromEntries(
        otherStatusesOf(operation).map((status) => [status, describeOtherResponse(status, needsKey)]),
      ),
      ...transportReferences,
    },
    ...(callback && { callbacks: { [callback.name]: { [callback.url]: { post: describeCallback(callback) } } } }),
  };
}

const describeCallback = ({ summary, body }: Callback) => ({
  summary,
  requestBody: { required: true, content: { 'application/json': { schema: describeSchema(body, 'output') } } },
  responses: { '2XX': { description: 'Confirms the delivery' } },
});

function describeBody(body: z.ZodType, example: ExampleRequest | undefined): object {
  const content = {
    schema: describeSchema(body, 'input'),
    ...(example?.body !== undefined && { example: example.body }),
  };
  return { required: !body.safeParse(undefined).success, content: { 'application/json': content } };
}

/**
 * 400 is also the status of an unknown query parameter, which any operation refuses. A body is read
 * also where none is needed.
 */
function otherStatusesOf({ method, isFromIndex, cost, submits, errors = [] }: AnyOperation): number[] {
  return [
    400,
    500,
    503,
    ...(isFromIndex ? [304] : []),
    ...(cost === undefined ? [] : [401, 429]),
    ...(method === 'GET' ? [] : [413, 415]),
    ...(submits === true ? [403] : []),
    ...errors,
  ];
}

/** `x-request-id` is `XRequestId`. */
const headerComponentName = (header: string): string =>
  header.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `404` is `NotFound`. */
const responseComponentName = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

const headerComponents: object = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [headerComponentName(name), { required: true, ...header }]),
);

const parameterComponents = {
  IfNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    required: false,
    description:
      'Entity tags of known responses: if one of them is still current, the response is a 304 without a body',
    schema: { type: 'string' },
  },
};

const ifNoneMatchReference = { $ref: '#/components/parameters/IfNoneMatch' } as const;

const OF_THE_STATE = ['x-kasgres-sink', 'x-kasgres-gaps'];
const OF_THE_KEY = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
/**
 * Without a valid key there are no limits. An error of the server may come before or after the key
 * is validated.
 */
const WITHOUT_KEY = new Set([401]);
const MAYBE_WITH_KEY = new Set([500, 503]);
const WITH_RETRY = new Set([429, 503]);
const WITH_STATE = new Set([200, 304]);
/** Only those of these errors that were found in the index name its state. */
const MAYBE_WITH_STATE = new Set([400, 404, 409, 503]);

function describeHeaders(status: number, needsKey: boolean, isFromIndex: boolean): object {
  const names = [
    'x-request-id',
    'x-request-cost-ru',
    ...(needsKey && !WITHOUT_KEY.has(status) ? OF_THE_KEY : []),
    ...(isFromIndex && WITH_STATE.has(status) ? ['etag', ...OF_THE_STATE] : []),
    ...(isFromIndex && MAYBE_WITH_STATE.has(status) ? OF_THE_STATE : []),
    ...(WITH_RETRY.has(status) ? ['retry-after'] : []),
  ];
  return Object.fromEntries(
    names.map((name) => [
      name,
      (MAYBE_WITH_KEY.has(status) && OF_THE_KEY.includes(name)) ||
      (MAYBE_WITH_STATE.has(status) && OF_THE_STATE.includes(name))
        ? { ...HEADERS[name], required: false }
        : { $ref: `#/components/headers/${headerComponentName(name)}` },
    ]),
  );
}

const referenceOf = (status: number) => ({ $ref: `#/components/responses/${responseComponentName(status)}` });

const transportReferences: object = Object.fromEntries(
  Object.keys(TRANSPORT_ERRORS).map((status) => [status, referenceOf(Number(status))]),
);

const responseComponents: object = Object.fromEntries(
  [304, ...Object.keys(ERRORS), ...Object.keys(TRANSPORT_ERRORS)].map((key) => {
    const status = Number(key);
    return [responseComponentName(status), describe(status, true)];
  }),
);

/**
 * Describes a response other than the 200. The components have the headers of operations with a
 * key.
 */
const describeOtherResponse = (status: number, needsKey: boolean): object =>
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

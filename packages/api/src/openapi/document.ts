/** Builds the OpenAPI 3.1 document from the operations and their schemas. */
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { ExampleRequest } from '../docs/example-requests.ts';
import examples from '../generated/examples.json' with { type: 'json' };
import type { AnyOperation } from '../route.ts';
import { info, tags } from './info.ts';
import {
  describeHeaders,
  describeOtherResponse,
  headerComponents,
  ifNoneMatchReference,
  parameterComponents,
  responseComponents,
  transportReferences,
} from './responses.ts';
import { describeComponents, describeParameters, describeSchema } from './schema.ts';

/** Requests and responses of the fixed simulated chain, by operationId: written by `npm run generate:examples`, and checked by test/examples. */
const operationExamples = examples.operations as Record<string, ExampleRequest & { response?: unknown }>;

/** Returns an array to which every operation is added that is registered from here on. */
export function collectOperations(app: FastifyInstance): readonly AnyOperation[] {
  const operations: AnyOperation[] = [];
  app.addHook('onRoute', ({ method, config }) => {
    // Fastify adds a HEAD route for every GET.
    if (method !== 'HEAD' && config?.operation !== undefined) operations.push(config.operation);
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
  const { operationId, summary, description, tag, cost, params, query, body, response, isFromIndex } = operation;
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
          'application/json': {
            schema: describeSchema(response, 'output'),
            ...(responseExample !== undefined && { example: responseExample }),
          },
        },
      },
      ...Object.fromEntries(
        otherStatusesOf(operation).map((status) => [status, describeOtherResponse(status, needsKey)]),
      ),
      ...transportReferences,
    },
  };
}

function describeBody(body: z.ZodType, example: ExampleRequest | undefined): object {
  const content = {
    schema: describeSchema(body, 'input'),
    ...(example?.body !== undefined && { example: example.body }),
  };
  return { required: !body.safeParse(undefined).success, content: { 'application/json': content } };
}

/** 400 is also the status of an unknown query parameter, which any operation refuses. */
function otherStatusesOf({ isFromIndex, cost, body, submits, errors = [] }: AnyOperation): number[] {
  return [
    400,
    500,
    503,
    ...(isFromIndex ? [304] : []),
    ...(cost === undefined ? [] : [401, 429]),
    ...(body === undefined ? [] : [413, 415]),
    ...(submits === true ? [403] : []),
    ...errors,
  ];
}

/** Builds the OpenAPI 3.1 document from the routes and their schemas. */
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { OpenApiDocument } from '../docs/with-examples.ts';
import examples from '../generated/examples.json' with { type: 'json' };
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
const operationExamples = examples.operations as Record<string, OperationExample>;

interface OperationExample {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** Absent if the node does not implement the operation. */
  response?: unknown;
}

/** Returns an array to which every route is added that is registered from here on. */
export function collectRoutes(app: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    // Fastify adds a HEAD route for every GET.
    if (route.method !== 'HEAD') routes.push(route);
  });
  return routes;
}

/** Describes all routes that are not hidden. */
export function describeApi(routes: readonly RouteOptions[]): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    if (route.schema?.hide === true) continue;
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: describeRoute(route) };
  }
  const document = {
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
  return document;
}

function describeRoute({ schema = {}, config }: RouteOptions): object {
  const { operationId = '', summary, description, tags, security, params, querystring, body } = schema;
  const { 200: ok, ...others } = schema.response as Record<number, z.ZodType>;
  const example = operationExamples[operationId];
  const isFromIndex = '304' in others;
  const needsKey = security === undefined;
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags,
    ...(security && { security }),
    ...(config?.cost !== undefined && { 'x-request-cost-ru': config.cost }),
    parameters: [
      ...describeParameters(params, 'path', example?.path),
      ...describeParameters(querystring, 'query', example?.query),
      ...(isFromIndex ? [ifNoneMatchReference] : []),
    ],
    ...(body instanceof z.ZodType && { requestBody: describeBody(body, example) }),
    responses: {
      200: {
        description: STATUS_CODES[200],
        headers: describeHeaders(200, { needsKey, isFromIndex }),
        content: {
          'application/json': {
            schema: describeSchema(ok as z.ZodType, 'output'),
            ...(example?.response !== undefined && { example: example.response }),
          },
        },
      },
      ...Object.fromEntries(
        Object.keys(others).map((status) => [status, describeOtherResponse(Number(status), needsKey)]),
      ),
      ...transportReferences,
    },
  };
}

function describeBody(body: z.ZodType, example: OperationExample | undefined): object {
  const content = {
    schema: describeSchema(body, 'input'),
    ...(example?.body !== undefined && { example: example.body }),
  };
  return { required: !body.safeParse(undefined).success, content: { 'application/json': content } };
}

/** One operation of the OpenAPI document, from the schemas that its route was registered with. */
import { STATUS_CODES } from 'node:http';
import type { RouteOptions } from 'fastify';
import { z } from 'zod';
import { describeOtherResponse, transportReferences } from './errors.ts';
import { findExample, type OperationExample } from './examples.ts';
import { describeHeaders, ifNoneMatchReference } from './headers.ts';
import { describeSchema, type JsonSchema } from './schemas.ts';

export function describeRoute({ schema = {}, config, url }: RouteOptions): object {
  const { operationId, summary, description, tags, security, params, querystring, body } = schema;
  if (operationId === undefined || summary === undefined || tags === undefined) {
    throw new Error(`The route ${url} lacks an operationId, a summary or tags`);
  }
  const response = schema.response as Record<string, unknown>;
  const isFromIndex = '304' in response;
  const example = findExample(operationId);
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
    responses: describeResponses(response, { isUnderKey: security === undefined, isFromIndex, example }),
  };
}

function describeParameters(
  schema: unknown,
  where: 'path' | 'query',
  examples: Record<string, unknown> = {},
): object[] {
  if (!(schema instanceof z.ZodType)) return [];
  const { properties = {}, required = [] } = describeSchema(schema, 'input');
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: where,
      required: required.includes(name),
      description,
      schema: rest,
      ...(name in examples && { example: examples[name] }),
    };
  });
}

function describeBody(body: z.ZodType, example: OperationExample | undefined): object {
  const content = {
    schema: describeSchema(body, 'input'),
    ...(example?.body !== undefined && { example: example.body }),
  };
  return { required: !body.safeParse(undefined).success, content: { 'application/json': content } };
}

interface Operation {
  isUnderKey: boolean;
  isFromIndex: boolean;
  example: OperationExample | undefined;
}

function describeResponses(declared: Record<string, unknown>, operation: Operation): object {
  const answers: Record<string, object> = {};
  for (const [status, answer] of Object.entries(declared)) {
    answers[status] = describeResponse(Number(status), answer, operation);
  }
  return { ...answers, ...transportReferences };
}

function describeResponse(status: number, answer: unknown, operation: Operation): object {
  if (status !== 200) return describeOtherResponse(status, operation);
  const content = {
    schema: describeSchema(answer as z.ZodType, 'output'),
    ...(operation.example?.answer !== undefined && { example: operation.example.answer }),
  };
  return {
    description: STATUS_CODES[status],
    headers: describeHeaders(status, operation),
    content: { 'application/json': content },
  };
}

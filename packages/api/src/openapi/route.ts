/** One operation of the OpenAPI document, from the schemas that its route was registered with. */
import { STATUS_CODES } from 'node:http';
import type { RouteOptions } from 'fastify';
import { z } from 'zod';
import { describeSchema, type JsonSchema } from './schemas.ts';

declare module 'fastify' {
  /** What the document says of an operation beside its schemas. */
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    tags?: readonly string[];
    /** Empty for an operation that needs no key. */
    security?: readonly object[];
  }
}

export function describeRoute({ schema = {}, config, url }: RouteOptions): object {
  const { operationId, summary, tags, security, params, querystring, body, response } = schema;
  if (operationId === undefined || summary === undefined || tags === undefined) {
    throw new Error(`The route ${url} lacks an operationId, a summary or tags`);
  }
  return {
    operationId,
    summary,
    tags,
    ...(security && { security }),
    ...(config?.cost !== undefined && { 'x-request-cost-ru': config.cost }),
    parameters: [...describeParameters(params, 'path'), ...describeParameters(querystring, 'query')],
    ...(body instanceof z.ZodType && {
      requestBody: { required: true, content: { 'application/json': { schema: describeSchema(body, 'input') } } },
    }),
    responses: describeAnswers(response as Record<string, unknown>),
  };
}

function describeParameters(schema: unknown, where: 'path' | 'query'): object[] {
  if (!(schema instanceof z.ZodType)) return [];
  const { properties = {}, required = [] } = describeSchema(schema, 'input');
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => {
    const { description, ...rest } = property;
    return { name, in: where, required: required.includes(name), description, schema: rest };
  });
}

/** Answers are schemas; errors are declared with words of their own (schemas/responses.ts); a 304 has neither. */
interface DeclaredError {
  description: string;
  content: { 'application/json': { schema: z.ZodType } };
}

function describeAnswers(declared: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(declared).map(([status, answer]) => [
      status,
      describeAnswer(status, answer as z.ZodType | DeclaredError),
    ]),
  );
}

function describeAnswer(status: string, answer: z.ZodType | DeclaredError): object {
  if (answer instanceof z.ZodNull) return { description: answer.description ?? STATUS_CODES[status] };
  if (answer instanceof z.ZodType) {
    return { description: 'The answer', content: { 'application/json': { schema: describeSchema(answer, 'output') } } };
  }
  const { schema } = answer.content['application/json'];
  return {
    description: answer.description,
    content: { 'application/json': { schema: describeSchema(schema, 'output') } },
  };
}

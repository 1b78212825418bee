/** zod checks what comes in; a failure names each field. What goes out was checked by TypeScript, and by tests against openapi.json. */
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import { z } from 'zod';
import { badRequest, type ErrorDetail } from './errors.ts';

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const result = schema.safeParse(data, {
      error: (issue) => (issue.input === undefined ? 'is required' : undefined),
    });
    return result.success ? { value: result.data } : { error: badRequest(...toDetails(result.error)) };
  };

/** An operation that says nothing of a query has none: what is asked with one is refused, like any unknown field. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', ({ schema }) => {
    if (schema?.operationId !== undefined) schema.querystring ??= z.strictObject({});
  });
}

function toDetails(error: z.ZodError): ErrorDetail[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is not a known field' }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
}

export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = () => (data) => JSON.stringify(data);

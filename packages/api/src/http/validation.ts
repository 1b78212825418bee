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

const toDetails = ({ issues }: { issues: readonly z.core.$ZodIssue[] }, base: readonly PropertyKey[] = []) =>
  issues.flatMap((issue) => detailsOf(issue, [...base, ...issue.path]));

function detailsOf(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a known field' }));
  }
  // Of several forms that a value may have, the one that fits its type tells what is wrong.
  const meant = issue.code === 'invalid_union' ? issue.errors.find(fitsType) : undefined;
  if (meant !== undefined) return toDetails({ issues: meant }, path);
  return [{ path: path.join('.'), message: issue.message }];
}

const fitsType = (issues: readonly z.core.$ZodIssue[]): boolean =>
  !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);

export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = () => (data) => JSON.stringify(data);

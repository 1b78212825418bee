/** zod checks what comes in; a failure names each field. What goes out was checked by TypeScript, and by tests against openapi.json. */
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, preValidationAsyncHookHandler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import { z } from 'zod';
import { MAX_DETAILS } from '../schemas/list.ts';
import { callerOf } from './caller.ts';
import { badRequest, type ErrorDetail, type HttpError } from './errors.ts';
import { afterOtherLargeBodies, isLarge } from './large-bodies.ts';

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) =>
    data instanceof ValidatedBody ? { value: data.value } : toValidation(schema.safeParse(data, WORDING));

/** A large body that was validated before Fastify asks for it. */
class ValidatedBody {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Validates large bodies with pauses (large-bodies.ts, schemas/list.ts). Fastify's own validation takes no value from a promise. */
export function validateLargeBodies(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const schema = route.schema?.body;
    if (!(schema instanceof z.ZodType)) return;
    const validate = async (request: FastifyRequest): Promise<void> => {
      const result = await afterOtherLargeBodies(callerOf(request), () => schema.safeParseAsync(request.body, WORDING));
      const validation = toValidation(result);
      if ('error' in validation) throw validation.error;
      request.body = new ValidatedBody(validation.value);
    };
    const hook: preValidationAsyncHookHandler = async (request) => {
      if (isLarge(request.body)) await validate(request);
    };
    route.preValidation = [hook, ...[route.preValidation ?? []].flat()];
  });
}

const UNKNOWN_FIELD = 'is not a known field';

const WORDING: z.core.ParseContext<z.core.$ZodIssue> = {
  error: ({ code, input }) => {
    if (input === undefined) return 'is required';
    // zod's own message repeats the names of all of them.
    return code === 'unrecognized_keys' ? UNKNOWN_FIELD : undefined;
  },
};

function toValidation(result: z.ZodSafeParseResult<unknown>): { value: unknown } | { error: HttpError } {
  if (result.success) return { value: result.data };
  const details: ErrorDetail[] = [];
  for (const detail of toDetails(result.error)) {
    details.push(detail);
    if (details.length === MAX_DETAILS) break;
  }
  return { error: badRequest(...details) };
}

/** An operation that says nothing of a query has none: what is asked with one is refused, like any unknown field. */
export function refuseUnknownQueries(app: FastifyInstance): void {
  app.addHook('onRoute', ({ schema }) => {
    if (schema?.operationId !== undefined) schema.querystring ??= z.strictObject({});
  });
}

type Details = Generator<ErrorDetail, void, undefined>;

/** One after another, since a body may have any number of unknown fields, and few of them are shown. */
function* toDetails({ issues }: { issues: readonly z.core.$ZodIssue[] }, base: readonly PropertyKey[] = []): Details {
  for (const issue of issues) yield* detailsOf(issue, [...base, ...issue.path]);
}

function* detailsOf(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): Details {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) yield { path: [...path, key].join('.'), message: UNKNOWN_FIELD };
    return;
  }
  // Of several forms that a value may have, the one that fits its type tells what is wrong.
  const meant = issue.code === 'invalid_union' ? issue.errors.find(fitsType) : undefined;
  if (meant === undefined) yield { path: path.join('.'), message: issue.message };
  else yield* toDetails({ issues: meant }, path);
}

const fitsType = (issues: readonly z.core.$ZodIssue[]): boolean =>
  !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);

export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = () => (data: unknown) =>
  // What large-responses.ts has serialized; Fastify sends a Buffer as it is, which its type leaves out.
  Buffer.isBuffer(data) ? (data as unknown as string) : JSON.stringify(data);

/**
 * Validates requests with zod. Responses are checked by TypeScript, and by tests against
 * openapi.json.
 */
import { badRequest, type ErrorDetail, type HttpError, MAX_DETAILS } from '@kasgres/reads';
import type { FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';

/** The schema of a query without parameters, as most requests have it. */
export const noQuery = z.strictObject({});

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    if (schema === noQuery && isEmpty(data as object)) return { value: data };
    if (data instanceof ValidatedBody) return { value: data.value };
    return toValidation(schema.safeParse(data, PARSE_CONTEXT));
  };

function isEmpty(query: object): boolean {
  for (const _ in query) return false;
  return true;
}

/** Wraps a large body that is already validated when Fastify validates the request. */
class ValidatedBody {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Validates a large body, whose lists (packages/reads) pause. @throws HttpError 400 */
export async function validateWithPauses(schema: z.ZodType, body: unknown): Promise<ValidatedBody> {
  const validation = toValidation(await schema.safeParseAsync(body, PARSE_CONTEXT));
  if ('error' in validation) throw validation.error;
  return new ValidatedBody(validation.value);
}

/** @param path of the data in the request; empty for the whole body @throws HttpError 400 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  data: unknown,
  path: readonly string[] = [],
): z.output<Schema> {
  const result = schema.safeParse(data, PARSE_CONTEXT);
  if (result.success) return result.data;
  throw toError(result.error, path);
}

export const UNKNOWN_FIELD = 'is not a known field';

const PARSE_CONTEXT: z.core.ParseContext<z.core.$ZodIssue> = {
  error: ({ code, input }) => {
    if (input === undefined) return 'is required';
    return code === 'unrecognized_keys' ? UNKNOWN_FIELD : undefined;
  },
};

function toValidation(result: z.ZodSafeParseResult<unknown>): { value: unknown } | { error: HttpError } {
  if (result.success) return { value: result.data };
  return { error: toError(result.error) };
}

function toError(error: z.ZodError, path: readonly string[] = []): HttpError {
  const details: ErrorDetail[] = [];
  for (const detail of toDetails(error, path)) {
    details.push(detail);
    if (details.length === MAX_DETAILS) break;
  }
  return badRequest(...details);
}

type Details = Generator<ErrorDetail, void, undefined>;

/** A generator, since a body may have any number of unknown fields, of which few are reported. */
function* toDetails({ issues }: { issues: readonly z.core.$ZodIssue[] }, base: readonly PropertyKey[] = []): Details {
  for (const issue of issues) yield* detailsOf(issue, [...base, ...issue.path]);
}

function* detailsOf(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): Details {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) yield { path: [...path, key].join('.'), message: UNKNOWN_FIELD };
    return;
  }
  // If a value may have several forms, the one that matches its type has the useful message.
  const matching = issue.code === 'invalid_union' ? issue.errors.find(fitsType) : undefined;
  if (matching === undefined) yield { path: path.join('.'), message: issue.message };
  else yield* toDetails({ issues: matching }, path);
}

const fitsType = (issues: readonly z.core.$ZodIssue[]): boolean =>
  !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);

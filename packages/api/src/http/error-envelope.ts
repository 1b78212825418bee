/** Every error leaves as `{statusCode, message}`, a 400 with `details` (API.md, "Errors"); only bugs are logged as errors. */
import type { FastifyError, FastifyInstance } from 'fastify';
import type { ErrorEnvelope } from '../schemas/responses.ts';
import { HttpError, unavailable } from './errors.ts';
import { toHttpError } from './outages.ts';

/** What Fastify refuses by itself, in our words. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is malformed',
  413: 'The body is larger than 1 MiB',
  414: 'The URL is too long',
  415: 'The body must be application/json',
};

export function useErrorEnvelope(app: FastifyInstance): void {
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const known = toHttpError(error) ?? fromFastify(error);
    if (known === undefined) request.log.error({ err: error, requestId: request.id }, 'failed to answer');
    else if (known.statusCode === 503) request.log.warn({ reason: reasonOf(known.cause) }, known.message);
    const { statusCode, message, details, retryAfterSeconds } = known ?? internalError(request.id);
    // They were set before it was known that there is no answer from the index to speak of.
    reply.code(statusCode).removeHeader('etag').removeHeader('x-kasgres-sink').removeHeader('x-kasgres-gaps');
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    const envelope: ErrorEnvelope = { statusCode, message };
    if (statusCode === 400) envelope.details = [...(details ?? [{ path: '', message }])];
    return envelope;
  });
}

function fromFastify(error: unknown): HttpError | undefined {
  const { code, statusCode, message } = error as FastifyError;
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return unavailable('The answer took too long', 5, error);
  if (code === undefined || statusCode === undefined || statusCode >= 500) return undefined;
  const words = REFUSALS[statusCode] ?? message;
  return new HttpError(statusCode, words, statusCode === 400 ? { details: [{ path: '', message }] } : {});
}

const internalError = (requestId: string): HttpError =>
  new HttpError(500, `Internal server error (request ${requestId})`);

/** An outage is told in a line: its errors carry whole connections along. */
const reasonOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined);

/** Responds to every error with `{statusCode, message}`, and `details` for a 400. Only bugs are logged as errors. */
import type { FastifyError, FastifyInstance } from 'fastify';
import { MAX_DETAILS } from '../schemas/list.ts';
import type { ErrorEnvelope } from '../schemas/responses.ts';
import { type ErrorDetail, HttpError, toHttpError } from './errors.ts';

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is malformed',
  413: 'The body is larger than 1 MiB',
  414: 'The URL is too long',
  415: 'The body must be application/json',
};

export function useErrorEnvelope(app: FastifyInstance): void {
  app.setErrorHandler(async (error: unknown, request, reply) => {
    const known = toHttpError(error) ?? fromFastify(error);
    if (known === undefined) request.log.error({ err: error, requestId: request.id }, 'request failed');
    else if (known.statusCode === 503) request.log.warn({ reason: reasonOf(known.cause) }, known.message);
    const { statusCode, message, details, retryAfterSeconds } = known ?? internalError(request.id);
    // These headers may have been set before the error; they describe responses from the index only.
    reply.code(statusCode).removeHeader('etag').removeHeader('x-kasgres-sink').removeHeader('x-kasgres-gaps');
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    const envelope: ErrorEnvelope = { statusCode, message: shorten(message, MAX_MESSAGE_LENGTH) };
    if (statusCode === 400) envelope.details = boundDetails(details ?? [{ path: '', message }]);
    return envelope;
  });
}

/** Field names and errors of the node may repeat any part of the request. */
const MAX_MESSAGE_LENGTH = 1000;
const MAX_DETAIL_LENGTH = 200;
/** Size of the details as JSON, where a character may take 6 bytes. With the message, the response stays below 16 kB. */
const MAX_DETAILS_BYTES = 9000;

function boundDetails(details: readonly ErrorDetail[]): ErrorDetail[] {
  const bounded: ErrorDetail[] = [];
  let bytes = 0;
  for (const { path, message } of details.slice(0, MAX_DETAILS)) {
    const detail = { path: shorten(path, MAX_DETAIL_LENGTH), message: shorten(message, MAX_DETAIL_LENGTH) };
    bytes += Buffer.byteLength(JSON.stringify(detail));
    if (bytes > MAX_DETAILS_BYTES) break;
    bounded.push(detail);
  }
  return bounded;
}

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

function fromFastify(error: unknown): HttpError | undefined {
  // Fastify's errors have a code; those of its static-file plugin have `expose`.
  const { code, statusCode, message, expose } = error as FastifyError & { expose?: boolean };
  if ((code === undefined && expose !== true) || statusCode === undefined || statusCode >= 500) return undefined;
  return new HttpError(statusCode, REFUSALS[statusCode] ?? message, { details: [{ path: '', message }] });
}

const internalError = (requestId: string): HttpError =>
  new HttpError(500, `Internal server error (request ${requestId})`);

/** Returns the message only, since errors of outages reference whole connections. */
const reasonOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined);

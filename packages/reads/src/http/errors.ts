/**
 * Errors for clients. Any other error is an outage of the database or the node, or a bug, whose
 * response has the request id only.
 */
import { isDatabaseUnavailable, isPoolExhausted, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';

/**
 * An error of one field. `path` has dots (`transactionIds.3`), and is empty for the whole body or
 * query.
 */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** Details of one error response. */
export const MAX_DETAILS = 20;

export class HttpError extends Error {
  override name = 'HttpError';
  readonly statusCode: number;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Headers that name the state of the index in which the error was found. */
  readonly headers: Record<string, string> = {};

  constructor(
    statusCode: number,
    message: string,
    extra: { details?: ErrorDetail[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    // Every refused request has one, and nobody reads its stack, which takes longer to collect than
    // the rest of the response.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { cause: extra.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.statusCode = statusCode;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }
}

export const badRequest = (...details: ErrorDetail[]): HttpError =>
  new HttpError(400, 'The request is not valid', { details });

export const notFound = (message: string): HttpError => new HttpError(404, message);

export const conflict = (message: string): HttpError => new HttpError(409, message);

export const unavailable = (message: string, retryAfterSeconds: number, cause?: unknown): HttpError =>
  new HttpError(503, message, { retryAfterSeconds, cause });

const RETRY_AFTER_SECONDS = 2;

/**
 * Maps outages to 503 responses, and rejections by the node to 4xx. Returns undefined for a bug.
 */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof NodeRpcError) return fromNodeError(error);
  const outage = describeOutage(error);
  return outage === undefined ? undefined : unavailable(outage, RETRY_AFTER_SECONDS, error);
}

function describeOutage(error: unknown): string | undefined {
  if (error instanceof NodeUnavailableError) return 'The node is out of reach';
  if (error instanceof NodeProtocolError) return 'The node sent an invalid response';
  if (isPoolExhausted(error)) return 'The database is busy';
  if (isDatabaseUnavailable(error)) return 'The database is out of reach';
  // A replica cancels queries that conflict with replay.
  if (isRetryableDatabaseError(error)) return 'The database was interrupted';
  if (isQueryCanceled(error)) return 'The database took too long';
  return undefined;
}

/** The message of the node is passed on, since the request was the client's. */
function fromNodeError({ kind, message }: NodeRpcError): HttpError {
  if (kind === 'not-found' || kind === 'unknown-block' || kind === 'pruned') return notFound(message);
  if (kind === 'other') return new HttpError(400, `The node rejected the request: ${message}`);
  return unavailable(`The node cannot serve the request now: ${message}`, RETRY_AFTER_SECONDS);
}

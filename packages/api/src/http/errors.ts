/**
 * The errors that a client is told of. Whatever else is thrown is either something out of reach (outages.ts) or a bug of ours, of
 * which the answer says nothing but the request id (error-envelope.ts).
 */

/** What is wrong with one field: `path` leads to it by dots (`transactionIds.3`), '' is the whole body or query. */
export interface ErrorDetail {
  path: string;
  message: string;
}

export class HttpError extends Error {
  override name = 'HttpError';
  readonly statusCode: number;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Seconds after which the same request may succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    statusCode: number,
    message: string,
    extra: { details?: readonly ErrorDetail[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: extra.cause });
    this.statusCode = statusCode;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }
}

/** 400 that names its fields. */
export const badRequest = (...details: ErrorDetail[]): HttpError =>
  new HttpError(400, 'The request is not valid', { details });

export const notFound = (message: string): HttpError => new HttpError(404, message);

export const conflict = (message: string): HttpError => new HttpError(409, message);

/** 503: what the answer needs is out of reach now; the message says what. */
export const unavailable = (message: string, retryAfterSeconds: number, cause?: unknown): HttpError =>
  new HttpError(503, message, { retryAfterSeconds, cause });

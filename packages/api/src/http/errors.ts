/** Errors for clients. Any other error is an outage (outages.ts) or a bug, whose response has the request id only (error-envelope.ts). */

/** An error of one field. `path` has dots (`transactionIds.3`), and is empty for the whole body or query. */
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

/** Makes a 400 with an error per field. */
export const badRequest = (...details: ErrorDetail[]): HttpError =>
  new HttpError(400, 'The request is not valid', { details });

export const notFound = (message: string): HttpError => new HttpError(404, message);

export const conflict = (message: string): HttpError => new HttpError(409, message);

/** Makes a 503 for a dependency that is unavailable for the moment. */
export const unavailable = (message: string, retryAfterSeconds: number, cause?: unknown): HttpError =>
  new HttpError(503, message, { retryAfterSeconds, cause });

/** Errors for clients. */

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

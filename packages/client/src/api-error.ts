/** Errors of the API as one class. */
import type { Schema } from './operations.ts';

/** An invalid field of a request, and its error. */
export type ErrorDetail = NonNullable<Schema<'Error'>['details']>[number];

export class ApiError extends Error {
  override name = 'ApiError';
  /** HTTP status: 400, 401, 404, 409, 429, 500, 503, … */
  readonly status: number;
  /** Empty unless the status is 400. */
  readonly details: readonly ErrorDetail[];
  /** Set with 429 and 503: when a retry may succeed. */
  readonly retryAfterSeconds: number | undefined;
  /** Identifies the request in the log of the API. */
  readonly requestId: string | undefined;

  /** @param body may be that of a proxy instead of the API */
  constructor({ status, statusText, headers }: Response, body: unknown) {
    const envelope = isEnvelope(body) ? body : undefined;
    super(envelope?.message ?? `${status} ${statusText}`.trimEnd());
    this.status = status;
    this.details = envelope?.details ?? [];
    this.retryAfterSeconds = readRetryAfter(headers);
    this.requestId = headers.get('x-request-id') ?? undefined;
  }
}

/** Returns the seconds of `retry-after`, which a proxy may give as a date; undefined without it. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

function isEnvelope(body: unknown): body is Schema<'Error'> {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string';
}

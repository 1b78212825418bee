/** Every error that the API answers, as one class. */
import type { Schema } from './operations.ts';

/** Which field of a request is wrong, and how. */
export type ErrorDetail = NonNullable<Schema<'Error'>['details']>[number];

export class ApiError extends Error {
  override name = 'ApiError';
  /** Of HTTP: 400, 401, 404, 409, 429, 500, 503, … */
  readonly status: number;
  /** With status 400. */
  readonly details: readonly ErrorDetail[];
  /** With 429 and 503: when the same request may succeed. */
  readonly retryAfterSeconds: number | undefined;
  /** What the operator finds the request by in the log. */
  readonly requestId: string | undefined;

  /** `body`: what came with the answer, which a proxy on the way may have given instead of the API. */
  constructor({ status, statusText, headers }: Response, body: unknown) {
    const envelope = isEnvelope(body) ? body : undefined;
    super(envelope?.message ?? `${status} ${statusText}`.trimEnd());
    this.status = status;
    this.details = envelope?.details ?? [];
    const seconds = headers.get('retry-after');
    this.retryAfterSeconds = seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
    this.requestId = headers.get('x-request-id') ?? undefined;
  }
}

function isEnvelope(body: unknown): body is Schema<'Error'> {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string';
}

/**
 * Finds out what an error is to a client. Any error that is not for clients is an outage of the
 * database or the node, or a bug, whose response has the request id only.
 */
import { isDatabaseUnavailable, isPoolExhausted, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { HttpError, notFound, unavailable } from '@kasgres/reads';

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

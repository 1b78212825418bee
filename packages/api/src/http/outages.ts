/** Maps errors of the database and the node to responses. All other errors are bugs. */
import { isDatabaseUnavailable, isPoolExhausted, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { HttpError, notFound, unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 2;

/** Returns undefined for a bug. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof NodeUnavailableError) {
    return unavailable('The node is out of reach', RETRY_AFTER_SECONDS, error);
  }
  if (error instanceof NodeProtocolError) {
    return unavailable('The node sent an invalid response', RETRY_AFTER_SECONDS, error);
  }
  if (error instanceof NodeRpcError) return fromNodeError(error);
  if (isPoolExhausted(error)) return unavailable('The database is busy', RETRY_AFTER_SECONDS, error);
  if (isDatabaseUnavailable(error)) return unavailable('The database is out of reach', RETRY_AFTER_SECONDS, error);
  // A replica cancels queries that conflict with replay.
  if (isRetryableDatabaseError(error)) return unavailable('The database was interrupted', RETRY_AFTER_SECONDS, error);
  if (isQueryCanceled(error)) return unavailable('The database took too long', RETRY_AFTER_SECONDS, error);
  return undefined;
}

/** The message of the node is passed on, since the request was the client's. */
function fromNodeError({ kind, message }: NodeRpcError): HttpError {
  if (kind === 'not-found' || kind === 'unknown-block' || kind === 'pruned') return notFound(message);
  if (kind === 'other') return new HttpError(400, `The node rejected the request: ${message}`);
  return unavailable(`The node cannot serve the request now: ${message}`, RETRY_AFTER_SECONDS);
}

/**
 * Which thrown errors mean that the database or the node is out of reach, and what the node's refusals mean to a client. Everything
 * else is a bug.
 */
import { isDatabaseUnavailable, isPoolExhausted, isQueryCanceled, isRetryableDatabaseError } from '@kasgres/database';
import { NodeProtocolError, NodeRpcError, NodeUnavailableError } from '@kasgres/node';
import { HttpError, notFound, unavailable } from './errors.ts';

const RETRY_AFTER_SECONDS = 2;

/** The client's answer for an error that is no bug; undefined for one that is. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof NodeUnavailableError) {
    return unavailable('The node is out of reach', RETRY_AFTER_SECONDS, error);
  }
  if (error instanceof NodeProtocolError) {
    return unavailable('The answer of the node cannot be read', RETRY_AFTER_SECONDS, error);
  }
  if (error instanceof NodeRpcError) return fromRefusal(error);
  if (isPoolExhausted(error)) return unavailable('The database is busy', RETRY_AFTER_SECONDS, error);
  if (isDatabaseUnavailable(error)) return unavailable('The database is out of reach', RETRY_AFTER_SECONDS, error);
  // A replica cancels a query that stands in the way of what it replays.
  if (isRetryableDatabaseError(error)) return unavailable('The database was interrupted', RETRY_AFTER_SECONDS, error);
  if (isQueryCanceled(error)) return unavailable('The database took too long', RETRY_AFTER_SECONDS, error);
  return undefined;
}

/** The node's own words reach the client: what is asked of it here is what the client asked. */
function fromRefusal({ kind, message }: NodeRpcError): HttpError {
  if (kind === 'not-found' || kind === 'unknown-block' || kind === 'pruned') return notFound(message);
  if (kind === 'other') return new HttpError(400, `The node refuses: ${message}`);
  return unavailable(`The node cannot answer now: ${message}`, RETRY_AFTER_SECONDS);
}

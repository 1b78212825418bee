/** Classifies errors of the database by SQLSTATE or system error code. */
import { FatalError } from '@kasgres/runtime';
import { DatabaseError } from 'pg';

/** The schema does not fit this program. The message says what to do. */
export class SchemaError extends FatalError {
  override readonly name = 'SchemaError';
}

/** Too many queries wait for a connection of the pool. */
export class PoolExhaustedError extends Error {
  override readonly name = 'PoolExhaustedError';

  constructor() {
    super('Too many queries are waiting for a connection');
  }
}

/**
 * Classes of SQLSTATE for an unavailable server: connection, resources, operator intervention,
 * system.
 */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
/** A statement that exceeded its time limit. Its class is that of operator intervention. */
const QUERY_CANCELED = '57014';
/**
 * Serialization failure, deadlock, lock not available, and a server that is read-only because it is
 * not the primary yet: the transaction may succeed next time.
 */
const RETRYABLE = new Set(['40001', '40P01', '55P03', '25006']);
const IN_FAILED_TRANSACTION = '25P02';
/** No room left on the disk. */
const DISK_FULL = '53100';

/** Message of the pool, which has no code, when all connections were in use for too long. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';
/** Messages of `pg`, which have no code, when it lost a connection or could not get one. */
const LOST_CONNECTION = [
  'Connection terminated',
  POOL_TIMEOUT,
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

/**
 * Classes of SQLSTATE for values that the schema refuses: data exception, constraint violation,
 * program limit exceeded.
 */
const DATA_CLASSES = new Set(['22', '23', '54']);

/**
 * System calls on sockets, and the look-up of a host. `read` and `write` are those of files, too.
 */
const SOCKET_CALLS = new Set(['connect', 'getaddrinfo', 'read', 'write', 'shutdown']);
/** Error codes of `read` and `write` that only files have. */
const FILE_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG', 'EROFS', 'EISDIR']);

function isSocketError({ syscall, code, path }: NodeJS.ErrnoException): boolean {
  return SOCKET_CALLS.has(syscall ?? '') && !FILE_CODES.has(code ?? '') && path === undefined;
}

/**
 * Returns whether the database is unreachable or shutting down: the request may succeed later, with
 * a new connection.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    return error.code !== QUERY_CANCELED && UNAVAILABLE_CLASSES.has(error.code?.slice(0, 2) ?? '');
  }
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  return (
    error instanceof PoolExhaustedError ||
    isSocketError(error) ||
    LOST_CONNECTION.some((text) => error.message.startsWith(text))
  );
}

/** Returns whether a statement was refused because an earlier one of its transaction failed. */
export function isInFailedTransaction(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === IN_FAILED_TRANSACTION;
}

/**
 * Returns whether a statement failed because of the values that it was given, so that it would fail
 * again with the same ones.
 */
export function isDataError(error: unknown): boolean {
  return error instanceof DatabaseError && DATA_CLASSES.has(error.code?.slice(0, 2) ?? '');
}

/** Returns whether a statement was cancelled, by its time limit or by a user. */
export function isQueryCanceled(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === QUERY_CANCELED;
}

/** Returns whether the disk of the server is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === DISK_FULL;
}

/**
 * Returns whether no connection of the pool became free in time, or too many queries wait for one.
 */
export function isPoolExhausted(error: unknown): boolean {
  return error instanceof PoolExhaustedError || (error instanceof Error && error.message === POOL_TIMEOUT);
}

/**
 * Returns whether the whole transaction may be retried. After a lost connection the outcome of a
 * commit is unknown: read the checkpoint before a retry.
 */
export function isRetryableDatabaseError(error: unknown): boolean {
  if (error instanceof DatabaseError && RETRYABLE.has(error.code ?? '')) return true;
  return isDatabaseUnavailable(error);
}

/** Which failures of the database pass by themselves: told by SQLSTATE, or by the system's error code. */
import { FatalError } from '@kasgres/runtime';
import { DatabaseError } from 'pg';

/** The schema is not the one this program was written for. The message says what to do. */
export class SchemaError extends FatalError {
  override readonly name = 'SchemaError';
}

/** So many wait for a connection of the pool already that one more would not get it in time. */
export class PoolExhaustedError extends Error {
  override readonly name = 'PoolExhaustedError';

  constructor() {
    super('Too many are waiting for a connection');
  }
}

/** Classes of SQLSTATE where the server cannot be used now: connection, resources, operator intervention, system. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
/** A statement that ran into its time limit; by its class it would count as an intervention. */
const QUERY_CANCELED = '57014';
/**
 * Serialization failure, deadlock, lock not available, and a server that is read-only because it is not the primary yet: the same
 * transaction may go through the next time.
 */
const RETRYABLE = new Set(['40001', '40P01', '55P03', '25006']);
/** No room left on the disk. */
const DISK_FULL = '53100';

/** What its pool says, without a code, when all connections were in use for too long. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';
/** What `pg` says, without a code, when it lost a connection or could not get one. */
const LOST_CONNECTION = [
  'Connection terminated',
  POOL_TIMEOUT,
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

/** Whether the database is out of reach or going down: what was asked may work later, with a new connection. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    return error.code !== QUERY_CANCELED && UNAVAILABLE_CLASSES.has(error.code?.slice(0, 2) ?? '');
  }
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  return (
    error instanceof PoolExhaustedError ||
    'syscall' in error ||
    LOST_CONNECTION.some((text) => error.message.startsWith(text))
  );
}

/** Whether a statement was cancelled: it ran into its time limit, or somebody stopped it. */
export function isQueryCanceled(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === QUERY_CANCELED;
}

/** Whether the server's disk is full: what was asked works again once there is room. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === DISK_FULL;
}

/** Whether every connection of the pool is in use, or being made, and too many wait for one, or waited too long. */
export function isPoolExhausted(error: unknown): boolean {
  return error instanceof PoolExhaustedError || (error instanceof Error && error.message === POOL_TIMEOUT);
}

/**
 * Whether the whole transaction may be tried again. After a lost connection the outcome of a commit is unknown: read the
 * checkpoint before trying again.
 */
export function isRetryableDatabaseError(error: unknown): boolean {
  if (error instanceof DatabaseError && RETRYABLE.has(error.code ?? '')) return true;
  return isDatabaseUnavailable(error);
}

/** Commits whose response was lost: Postgres remembers by transaction id whether they succeeded. */
import { type Kysely, sql, type Transaction } from 'kysely';
import { DatabaseError } from 'pg';
import type { Database } from './connect.ts';

/** Limits how long a session whose client is lost keeps its locks. */
const IDLE_LIMIT = '10s';
/** SQLSTATE for a transaction id that was not assigned yet. */
const IN_THE_FUTURE = '22023';

/** The outcome of a commit is unknown. Call `hasCommitted` before the work is repeated. */
export class UnknownCommitError extends Error {
  override readonly name = 'UnknownCommitError';
  /**
   * @throws Error while the outcome is unknown: the server is unreachable, or the transaction is in
   * progress
   */
  readonly hasCommitted: () => Promise<boolean>;

  constructor(hasCommitted: () => Promise<boolean>, cause: unknown) {
    super('The response to a commit was lost', { cause });
    this.hasCommitted = hasCommitted;
  }
}

/**
 * Does the work in one transaction. Any error but an UnknownCommitError means that it was rolled
 * back.
 * @throws UnknownCommitError if the response to the commit was lost
 */
export async function commit(
  db: Kysely<Database>,
  work: (transaction: Transaction<Database>) => Promise<void>,
): Promise<void> {
  let number: string | undefined;
  let isDone = false;
  try {
    await db.transaction().execute(async (transaction) => {
      number = await begin(transaction);
      await work(transaction);
      isDone = true;
    });
  } catch (error) {
    if (!isDone || number === undefined) throw error;
    const lost = number;
    throw new UnknownCommitError(() => hasCommitted(db, lost), error);
  }
}

async function begin(transaction: Transaction<Database>): Promise<string> {
  const { rows } = await sql<{ number: string }>`
    select pg_current_xact_id()::text as number
      from set_config('idle_in_transaction_session_timeout', ${IDLE_LIMIT}, true)
  `.execute(transaction);
  return rows[0]?.number as string;
}

/**
 * After a crash or a failover the id of an uncommitted transaction may be assigned again. Then lost
 * work may count as done, but never the other way round.
 */
async function hasCommitted(db: Kysely<Database>, number: string): Promise<boolean> {
  try {
    const { rows } = await sql<{ status: string | null }>`select pg_xact_status(${number}::xid8) as status`.execute(db);
    const status = rows[0]?.status;
    if (status === 'in progress') throw new Error('A transaction whose commit response was lost is still in progress');
    // The status of old transactions is null.
    return status !== 'aborted';
  } catch (error) {
    if (error instanceof DatabaseError && error.code === IN_THE_FUTURE) return false;
    throw error;
  }
}

/** A commit whose answer was lost has come to pass or not: Postgres itself remembers which, by the number of the transaction. */
import { type Kysely, sql, type Transaction } from 'kysely';
import { DatabaseError } from 'pg';
import type { Database } from './connect.ts';

/** A session that lost us in the middle keeps its locks no longer than this. */
const IDLE_LIMIT = '10s';
/** What Postgres says of a number that it has not given out yet. */
const IN_THE_FUTURE = '22023';

/** Whether the transaction was committed is not known yet: ask, and do not do its work again before. */
export class UnknownCommitError extends Error {
  override readonly name = 'UnknownCommitError';
  /** @throws Error as long as that cannot be known: the server is away, or still at work on it */
  readonly hasCommitted: () => Promise<boolean>;

  constructor(hasCommitted: () => Promise<boolean>, cause: unknown) {
    super('The answer to a commit was lost', { cause });
    this.hasCommitted = hasCommitted;
  }
}

/**
 * Does some work in one transaction. Any error but an UnknownCommitError means that it is undone.
 * @throws UnknownCommitError when it was to be committed, and no answer came
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
    const asked = number;
    throw new UnknownCommitError(() => hasCommitted(db, asked), error);
  }
}

async function begin(transaction: Transaction<Database>): Promise<string> {
  const { rows } = await sql<{ number: string }>`
    select set_config('idle_in_transaction_session_timeout', ${IDLE_LIMIT}, true), pg_current_xact_id()::text as number
  `.execute(transaction);
  return rows[0]?.number as string;
}

/**
 * A crash forgets a number that no commit has made last, and a server that took over never heard of it: either may give it out again.
 * Then the work may count as done that was not, never the other way round.
 */
async function hasCommitted(db: Kysely<Database>, number: string): Promise<boolean> {
  try {
    const { rows } = await sql<{ status: string | null }>`select pg_xact_status(${number}::xid8) as status`.execute(db);
    const status = rows[0]?.status;
    if (status === 'in progress') throw new Error('The server is still at work on a transaction whose answer was lost');
    // It does not remember what is long ago.
    return status !== 'aborted';
  } catch (error) {
    if (error instanceof DatabaseError && error.code === IN_THE_FUTURE) return false;
    throw error;
  }
}

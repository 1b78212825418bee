/** All or nothing: what the work writes is committed together, or not at all. */
import type { ClientBase } from 'pg';

interface TransactionOptions {
  /** The work only reads, and sees one state of the database, whatever is committed meanwhile. */
  readsOneState?: boolean;
}

export async function inTransaction<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
  { readsOneState = false }: TransactionOptions = {},
): Promise<Result> {
  await client.query(readsOneState ? 'begin isolation level repeatable read read only' : 'begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection may be gone; then there is nothing to roll back.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

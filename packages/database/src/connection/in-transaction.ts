import type { ClientBase } from 'pg';

interface TransactionOptions {
  /** The work only reads, and sees one snapshot of the database. */
  readsSnapshot?: boolean;
}

/** Commits the work, or rolls it back if it throws. */
export async function inTransaction<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
  { readsSnapshot = false }: TransactionOptions = {},
): Promise<Result> {
  await client.query(readsSnapshot ? 'begin isolation level repeatable read read only' : 'begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // The server rolls back by itself if the connection is lost.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

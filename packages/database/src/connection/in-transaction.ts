import type { ClientBase } from 'pg';
import { isPipelined } from './in-pipeline.ts';

/**
 * Begins a transaction that sees one snapshot. RETENTION exchanges partitions while it has `blocks`
 * locked. A transaction whose snapshot is older than that, and which reads partitions afterwards,
 * would find neither the removed rows nor those that took their place, so it waits for the lock
 * before its first statement takes the snapshot.
 */
export const BEGIN_SNAPSHOT =
  'begin isolation level repeatable read read only; lock table only blocks in access share mode';

/**
 * Must run in a transaction before it locks the checkpoint: the server ends it if its process hangs
 * or its connection is lost, so that batches do not wait for it.
 */
export const LIMIT_IDLE_TIME = `set local idle_in_transaction_session_timeout = '30s'`;

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
  const begun = client.query(readsSnapshot ? BEGIN_SNAPSHOT : 'begin');
  // If it fails, so does every statement of the work.
  begun.catch(() => undefined);
  try {
    if (!isPipelined(client)) await begun;
    const result = await work();
    await begun;
    await client.query('commit');
    return result;
  } catch (error) {
    // The server rolls back by itself if the connection is lost.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

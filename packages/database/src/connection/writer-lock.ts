/**
 * Only one indexer writes to a database (invariant 2). The lock belongs to its connection: a crash
 * releases it when the server notices the lost connection.
 */
import { FatalError, sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';

/** Key of the advisory lock: "kasgresw" in ASCII. */
const LOCK_KEY = 0x6b61736772657377n;
/** How long the server may take to notice that the previous indexer is gone. */
const PATIENCE_MS = 15_000;
const RETRY_MS = 250;

export interface WriterLockOptions {
  signal: AbortSignal;
  /** How long to wait for the lock. */
  patienceMs?: number;
  /** Called once if the lock is not free at first. */
  onWait?: () => void;
}

/** @throws FatalError if another indexer holds the lock */
export async function takeWriterLock(client: ClientBase, options: WriterLockOptions): Promise<void> {
  const { signal, patienceMs = PATIENCE_MS, onWait } = options;
  for (let waited = 0; ; waited += RETRY_MS) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK_KEY]);
    if (rows[0]?.taken === true) return;
    if (waited >= patienceMs) break;
    if (waited === 0) onWait?.();
    await sleep(RETRY_MS, signal);
  }
  throw new FatalError(
    'Another indexer is writing to this database, and only one may (invariant 2). Stop the other one first.',
  );
}

export async function releaseWriterLock(client: ClientBase): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
}

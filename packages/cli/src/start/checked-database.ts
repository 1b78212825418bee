// The database of a start, checked before anything is written to it. While it is checked and prepared the start holds the lock of the
// writer, so that no other indexer can begin on it meanwhile.

import { connect, type DatabaseState, inspectDatabase, releaseWriterLock, takeWriterLock } from '@kasgres/database';
import { describeDatabaseProblem } from '../database-problem.ts';

export interface CheckedDatabase {
  url: string;
  state: DatabaseState;
  /** Lets the indexer have the lock. Idempotent. */
  release: () => Promise<void>;
}

interface CheckOptions {
  signal: AbortSignal;
  /** How long an indexer that holds the lock is waited for, and what is called before that. */
  patienceMs: number;
  onWait: () => void;
}

/** @throws {FatalError} when it cannot be reached or used, or an indexer writes to it; nothing was written then */
export async function openCheckedDatabase(
  url: string,
  { signal, patienceMs, onWait }: CheckOptions,
): Promise<CheckedDatabase> {
  const database = connect({ url, max: 1, applicationName: 'kasgres start' });
  try {
    const client = await database.pool.connect();
    try {
      await takeWriterLock(client, { signal, patienceMs, onWait });
      const state = await inspectDatabase(client);
      let isReleased = false;
      const release = async (): Promise<void> => {
        if (isReleased) return;
        isReleased = true;
        try {
          await releaseWriterLock(client);
        } finally {
          client.release(true);
          await database.close();
        }
      };
      return { url, state, release };
    } catch (error) {
      client.release(true);
      throw error;
    }
  } catch (error) {
    await database.close();
    signal.throwIfAborted();
    throw describeDatabaseProblem(url, error);
  }
}

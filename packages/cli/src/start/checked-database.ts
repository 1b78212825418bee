/**
 * The database of a start, checked before anything is written to it. Meanwhile `start` holds the writer lock, so that no other indexer can
 * write to it.
 */
import { connect, type DatabaseState, inspectDatabase, releaseWriterLock, takeWriterLock } from '@kasgres/database';
import { describeDatabaseProblem } from '../error-message.ts';

export interface CheckedDatabase {
  url: string;
  state: DatabaseState;
  /** Releases the writer lock for the indexer. Idempotent. */
  release: () => Promise<void>;
}

interface CheckOptions {
  signal: AbortSignal;
  /** How long to wait for an indexer that holds the lock. `onWait` is called before. */
  patienceMs: number;
  onWait: () => void;
}

/** @throws {FatalError} if it cannot be reached or used, or if an indexer writes to it */
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

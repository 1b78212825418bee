/**
 * The database of a start, checked before anything is written to it. Meanwhile `start` holds the
 * writer lock, so that no other indexer can write to it.
 */
import {
  ASK_AFTER_SILENCE_MS,
  connect,
  type DatabaseState,
  inspectDatabase,
  releaseWriterLock,
  takeWriterLock,
  type WriterLockOptions,
} from '@kasgres/database';
import { describeDatabaseProblem } from '../error-message.ts';

export interface CheckedDatabase {
  url: string;
  state: DatabaseState;
  /** Releases the writer lock for the indexer. Idempotent. */
  release: () => Promise<void>;
}

/** @throws {FatalError} if it cannot be reached or used, or if an indexer writes to it */
export async function openCheckedDatabase(url: string, lock: WriterLockOptions): Promise<CheckedDatabase> {
  const database = connect({
    url,
    max: 1,
    applicationName: 'kasgres start',
    askAfterSilenceMs: ASK_AFTER_SILENCE_MS,
  });
  try {
    const client = await database.pool.connect();
    try {
      await takeWriterLock(client, lock);
      const state = await inspectDatabase(client);
      let released: Promise<void> | undefined;
      const release = async (): Promise<void> => {
        try {
          await releaseWriterLock(client);
        } finally {
          client.release(true);
          await database.close();
        }
      };
      return { url, state, release: () => (released ??= release()) };
    } catch (error) {
      client.release(true);
      throw error;
    }
  } catch (error) {
    await database.close();
    lock.signal.throwIfAborted();
    throw describeDatabaseProblem(url, error);
  }
}

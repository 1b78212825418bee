/** Holds up every read of the index, by a lock on the checkpoint. */
import type { Harness } from './harness.ts';

type Lockable = Pick<Harness, 'database'>;

/** Nothing of the index is served meanwhile. */
export async function whileNothingIsRead<T>(
  { database }: Lockable,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const locker = await database.pool.connect();
  await locker.query('begin; lock table checkpoint in access exclusive mode');
  const release = async (): Promise<void> => {
    await locker.query('rollback');
  };
  try {
    return await work(release);
  } finally {
    await release();
    locker.release();
  }
}

/** Returns the number of statements that wait for the lock. */
export async function countWaiting({ database }: Lockable): Promise<number | null> {
  const waiting = await database.pool.query(
    'select from pg_locks join pg_database d on d.oid = database where datname = current_database() and not granted',
  );
  return waiting.rowCount;
}

/**
 * One start at a time on a DATA_DIR, and one export at a time into a directory. The lock is a write
 * transaction on a small SQLite file: the kernel releases it when its process ends, however it
 * ends. A process id in a file could not tell, since ids are reused, and a lock that must be
 * refreshed keeps the next start waiting after a crash.
 */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type HeldLock, type LockAttempt, tryFlock } from './flock.ts';
import { FatalError } from './run-program.ts';

const SQLITE_BUSY = 5;
/** Longer than `isLockHeld` of another process takes. */
const BUSY_TIMEOUT_MS = 200;

/** Node 20 has none. Other commands do not load it, since Node 22 warns that it is experimental. */
const findSqlite = () => import('node:sqlite').catch(() => undefined);

/**
 * Takes the lock. Its file stays when the lock is released: another process may have opened it
 * already.
 * @throws {FatalError} with the message of `heldBy` if another process holds the lock
 */
export async function takeLock(path: string, heldBy: (processId: number) => string): Promise<HeldLock> {
  const attempt = await tryLock(path);
  if ('heldBy' in attempt) throw new FatalError(heldBy(attempt.heldBy));
  return attempt;
}

async function tryLock(path: string): Promise<LockAttempt> {
  const sqlite = await findSqlite();
  if (sqlite === undefined) return await tryFlock(`${path}.flock`);
  await (await open(path, 'a', 0o600)).close();
  const file = new sqlite.DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    file.exec(`begin immediate; pragma user_version = ${process.pid}; commit; begin immediate`);
  } catch (error) {
    const processId = isBusy(error) && Number(file.prepare('pragma user_version').get()?.['user_version']);
    file.close();
    if (processId === false) throw error;
    return { heldBy: processId };
  }
  return { release: async () => file.close() };
}

export async function isLockHeld(path: string): Promise<boolean> {
  const sqlite = await findSqlite();
  if (sqlite === undefined) {
    if (!existsSync(`${path}.flock`)) return false;
    const attempt = await tryFlock(`${path}.flock`);
    if ('heldBy' in attempt) return true;
    await attempt.release();
    return false;
  }
  if (!existsSync(path)) return false;
  try {
    const file = new sqlite.DatabaseSync(path);
    try {
      file.exec('begin immediate; rollback');
    } finally {
      file.close();
    }
    return false;
  } catch (error) {
    return isBusy(error);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

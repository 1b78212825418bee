/**
 * Where root keeps what the account of Postgres must reach when DATA_DIR or the checkout lie in a directory that only root
 * may enter (`/root`, for one). Root owns the directory and nobody else can write to it, so nothing in it can be put there by
 * others.
 */
import { mkdir, stat } from 'node:fs/promises';
import { EmbeddedPostgresUnavailableError } from './errors.ts';

const SHARED_DIRECTORY = '/var/lib/kasgres';

/** @throws {EmbeddedPostgresUnavailableError} when it cannot be made, or belongs to somebody else */
export async function makeSharedDirectory(): Promise<string> {
  try {
    await mkdir(SHARED_DIRECTORY, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new EmbeddedPostgresUnavailableError(
      `Only root may enter the checkout or DATA_DIR, and ${SHARED_DIRECTORY}, where Postgres would have its files then, ` +
        'cannot be made.',
      { cause: error },
    );
  }
  const { uid, mode } = await stat(SHARED_DIRECTORY);
  if (uid !== 0 || (mode & 0o022) !== 0) {
    throw new EmbeddedPostgresUnavailableError(
      `${SHARED_DIRECTORY} must belong to root and be writable for root only.`,
    );
  }
  return SHARED_DIRECTORY;
}

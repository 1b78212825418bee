import { FatalError } from '@kasgres/runtime';
import type { Pool } from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { explainDatabaseError } from './explain-error.ts';

/**
 * Connects once, when a program starts. An outage is no failure here, since it may pass.
 * @throws {FatalError} if DATABASE_URL or the server must be corrected, such as a wrong password
 */
export async function checkLogin(pool: Pool): Promise<void> {
  try {
    (await pool.connect()).release();
  } catch (error) {
    const { message, advice } = explainDatabaseError(error);
    if (isDatabaseUnavailable(error) || advice === undefined) return;
    throw new FatalError(`The database cannot be used: ${message}. ${advice}`, { cause: error });
  }
}

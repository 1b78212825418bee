/** Errors as messages for the user: what failed, why, and what to do. */
import { explainDatabaseError, isDatabaseUnavailable } from '@kasgres/database';
import { EnvError, FatalError } from '@kasgres/runtime';

/** Returns the message of an error that the user can correct, and the stack of any other. */
export function describeError(error: unknown): string {
  if (error instanceof FatalError || error instanceof EnvError) return error.message;
  if (isDatabaseProblem(error)) {
    const { message, advice } = explainDatabaseError(error);
    return `The database cannot be used: ${[`${message}.`, advice].filter(Boolean).join(' ')}`;
  }
  if (!(error instanceof Error)) return String(error);
  // The message of a system call, such as that of a full disk, names the call and the file.
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}

/** Returns the address of a database without its password. */
export function nameOfDatabase(url: string): string {
  if (!URL.canParse(url)) return 'database';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

/**
 * Returns whether the user who set DATABASE_URL, or who runs the server, can correct the cause of
 * the error.
 */
export function isDatabaseProblem(error: unknown): boolean {
  if (error instanceof FatalError) return false;
  return isDatabaseUnavailable(error) || explainDatabaseError(error).advice !== undefined;
}

/**
 * @param error of the connection to the database, or of the first queries
 * @param origin sentences that say where the address comes from, if it does not come from
 * DATABASE_URL
 */
export function describeDatabaseProblem(url: string, error: unknown, origin = ''): FatalError {
  const { message, advice } =
    error instanceof FatalError ? { message: undefined, advice: error.message } : explainDatabaseError(error);
  const problem = `The database ${nameOfDatabase(url)} cannot be used${message === undefined ? '.' : `: ${message}.`}`;
  // Advice on DATABASE_URL does not help users who have not set it.
  const sentences = [problem, origin !== '' && message !== undefined ? undefined : advice, origin];
  return new FatalError(sentences.filter(Boolean).join(' '), { cause: error });
}

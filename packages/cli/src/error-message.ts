/** Errors as messages for the user: what failed, why, and what to do. */
import { isDatabaseUnavailable } from '@kasgres/database';
import { EnvError, FatalError } from '@kasgres/runtime';

/** Returns the message of an error that the user can correct, and the stack of any other. */
export function describeError(error: unknown): string {
  if (error instanceof FatalError || error instanceof EnvError) return error.message;
  if (isDatabaseUnavailable(error)) return `The database cannot be reached: ${reasonOf(error).message}`;
  // Such as a wrong password or an unknown database.
  if (isDatabaseProblem(error)) {
    const { message, advice } = reasonOf(error);
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

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens there: start Postgres, or correct host and port in DATABASE_URL.',
  ENOTFOUND: 'The host is not known: correct it in DATABASE_URL.',
  EAI_AGAIN: 'The host cannot be looked up: correct it in DATABASE_URL, or check the name server.',
  ETIMEDOUT: 'Check host, port and firewall.',
  EHOSTUNREACH: 'Check host, port and firewall.',
  ENETUNREACH: 'Check host, port and network.',
  ECONNRESET: 'Check that Postgres, and nothing else, listens at that port.',
  '28P01': 'Correct user and password in DATABASE_URL.',
  '28000': 'Correct the user in DATABASE_URL, or let it in by pg_hba.conf.',
  '3D000': 'Create the database (createdb), or correct its name in DATABASE_URL.',
  '53300': 'Every connection of the server is in use: raise max_connections, or end some.',
  '57P03': 'The server is starting or shutting down: try again.',
  '42501': 'Grant the role what is missing (ops/roles.sql), or name another one in DATABASE_URL.',
};

/** For errors of `pg` that have no code. */
const ADVICE_BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, 'Check host, port and firewall.'],
  [
    /password must be a string/,
    'The server asks for a password, and DATABASE_URL has none: postgres://user:password@host/database.',
  ],
  [/does not support SSL/, 'Leave sslmode out of DATABASE_URL, or switch SSL on at the server.'],
  [/Connection terminated|unexpected message/i, 'Check that Postgres, and nothing else, listens at that port.'],
];

/**
 * Returns whether the user who set DATABASE_URL, or who runs the server, can correct the cause of
 * the error.
 */
export function isDatabaseProblem(error: unknown): boolean {
  if (error instanceof FatalError) return false;
  return isDatabaseUnavailable(error) || reasonOf(error).advice !== undefined;
}

/**
 * @param error of the connection to the database, or of the first queries
 * @param origin sentences that say where the address comes from, if it does not come from
 * DATABASE_URL
 */
export function describeDatabaseProblem(url: string, error: unknown, origin = ''): FatalError {
  const { message, advice } =
    error instanceof FatalError ? { message: undefined, advice: error.message } : reasonOf(error);
  const problem = `The database ${nameOfDatabase(url)} cannot be used${message === undefined ? '.' : `: ${message}.`}`;
  // Advice on DATABASE_URL does not help users who have not set it.
  const sentences = [problem, origin !== '' && message !== undefined ? undefined : advice, origin];
  return new FatalError(sentences.filter(Boolean).join(' '), { cause: error });
}

interface Reason {
  message: string;
  advice: string | undefined;
}

function reasonOf(error: unknown): Reason {
  // A host name with several addresses fails with an AggregateError, whose own message is empty.
  if (error instanceof AggregateError) {
    const reasons = error.errors.map(reasonOf);
    return {
      message: reasons.map(({ message }) => message).join('; '),
      advice: reasons.find(({ advice }) => advice !== undefined)?.advice,
    };
  }
  const message = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const byMessage = ADVICE_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1];
  return { message, advice: ADVICE[code] ?? byMessage };
}

/** Advice on errors of connecting to the database. */
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
  '25006':
    'The server is a standby, or default_transaction_read_only is on: name the primary in DATABASE_URL, or switch it off.',
  '53100': 'Free some space on the disk of the server.',
  '53200': 'Give the server more memory, or raise max_locks_per_transaction if its log says so.',
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

export interface DatabaseErrorReason {
  message: string;
  advice: string | undefined;
}

/** Returns why the database cannot be used, and what to do about it if that is known. */
export function explainDatabaseError(error: unknown): DatabaseErrorReason {
  // A host name with several addresses fails with an AggregateError, whose own message is empty.
  if (error instanceof AggregateError) {
    const reasons = error.errors.map(explainDatabaseError);
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

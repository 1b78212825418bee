/**
 * Logins of analysts: members of the role kasgres_analyst, which sees the views of schema `kaspa` and nothing else (migrations/0008_views.sql,
 * `admit_analysts`). Settings of a role do not pass to its members, so each login has its own; those that a person may change for a session are
 * defaults, and what they are to prevent is prevented otherwise: there is nothing to write, and the indexer ends what takes too long.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { FatalError } from '@kasgres/runtime';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { inTransaction } from './in-transaction.ts';

interface NewAnalyst {
  /** Of the login. */
  name: string;
  /** How long a statement may take, and a transaction be idle. */
  timeoutSeconds: number;
  /** Connections open at once. */
  connections: number;
}

interface Analyst extends NewAnalyst {
  /** Undefined for a login that was made by hand. */
  createdAt: Date | undefined;
}

/** Of logins that were made by hand, too. */
export const DEFAULT_TIMEOUT_SECONDS = 60;
export const DEFAULT_ANALYST_CONNECTIONS = 5;

/** A transaction may last so many times as long as a statement: an old one keeps the vacuum from cleaning up. */
export const TRANSACTION_TIMEOUTS = 10;

/** What a name of a login may be, so that it needs no quotes anywhere. */
export const ANALYST_NAME = /^(?!pg_|kasgres_)[a-z_][a-z0-9_]{0,62}$/;

/** `pg_roles r` whose logins are analysts: who may do more is none, though a superuser or an owner is a member, too. */
export const IS_ANALYST = `
  r.rolcanlogin and not r.rolsuper and not r.rolcreaterole
  and exists (select from pg_roles g where g.rolname = 'kasgres_analyst' and pg_has_role(r.oid, g.oid, 'member'))
  and not exists (select from pg_roles g where g.rolname in ('kasgres_indexer', 'kasgres_api') and pg_has_role(r.oid, g.oid, 'member'))`;

const SETTINGS = {
  search_path: 'kaspa',
  default_transaction_read_only: 'on',
  lock_timeout: '10s',
  work_mem: '64MB',
  // Questions over months are compiled longer than the short ones run, and plans go by what an SSD costs.
  jit: 'off',
  random_page_cost: '1.1',
  // Three views joined have more tables than Postgres plans together by default; from twelve on it would guess.
  join_collapse_limit: '11',
  from_collapse_limit: '11',
} as const;
/** A superuser's to set, and so not the login's to lift. */
const TEMPORARY_FILES = '10GB';

const INSUFFICIENT_PRIVILEGE = '42501';
const ROLE_EXISTS = '42710';

/**
 * Makes a login, and whatever it needs in this database, and returns its password: the only time that it can be read.
 * @param onWarning hears what could not be had from this server
 * @throws {FatalError} when the user may not make roles, or the name is taken
 */
export async function createAnalyst(
  pool: Pool,
  analyst: NewAnalyst,
  onWarning: (message: string) => void,
): Promise<string> {
  // Hexadecimal: it needs no escaping in a URL.
  const password = randomBytes(24).toString('hex');
  const client = await pool.connect();
  client.on('notice', ({ severity, message }) => {
    if (severity === 'WARNING' && message !== undefined) onWarning(message);
  });
  try {
    await inTransaction(client, () => writeLogin(client, analyst, password, onWarning));
  } finally {
    client.release(true);
  }
  return password;
}

export async function listAnalysts(pool: Pool): Promise<Analyst[]> {
  const { rows } = await pool.query<{ name: string; timeout: number; connections: number; created_at: Date | null }>(
    `select r.rolname as name, coalesce(a.timeout_seconds, ${DEFAULT_TIMEOUT_SECONDS}) as timeout, r.rolconnlimit as connections, a.created_at
       from pg_roles r left join analysts a on a.login = r.rolname
      where ${IS_ANALYST} order by r.rolname`,
  );
  return rows.map(({ name, timeout, connections, created_at: createdAt }) => ({
    name,
    timeoutSeconds: timeout,
    connections,
    createdAt: createdAt ?? undefined,
  }));
}

/**
 * Ends its sessions and removes the login.
 * @throws {FatalError} when there is no such login, or the user may not
 */
export async function removeAnalyst(pool: Pool, name: string): Promise<void> {
  const known = await listAnalysts(pool);
  if (!known.some((analyst) => analyst.name === name)) {
    throw new FatalError(`There is no analyst ${name}. See: kasgres analysts list`);
  }
  // Committed on its own: who is refused now does not come back before the role is gone.
  await pool.query(`alter role "${name}" nologin`).catch(orRefused('remove logins'));
  await pool.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = $1', [name]);
  await pool.query(`drop role "${name}"`);
  await pool.query('delete from analysts where login = $1', [name]);
}

async function writeLogin(
  client: PoolClient,
  { name, timeoutSeconds, connections }: NewAnalyst,
  password: string,
  onWarning: (message: string) => void,
): Promise<void> {
  await client.query('select admit_analysts()').catch(orRefused('give rights in this database'));
  await client
    .query(
      `create role ${name} login password '${scramVerifier(password)}' connection limit ${connections} in role kasgres_analyst`,
    )
    .catch(orTaken(name))
    .catch(orRefused('make logins'));
  const timeouts = {
    statement_timeout: `${timeoutSeconds}s`,
    idle_in_transaction_session_timeout: `${timeoutSeconds}s`,
  };
  for (const [setting, value] of Object.entries({ ...SETTINGS, ...timeouts })) {
    await client.query(`alter role ${name} set ${setting} = '${value}'`);
  }
  await limitTemporaryFiles(client, name, onWarning);
  const { rowCount } = await client.query(`select from pg_roles where rolname = 'kasgres_indexer'`);
  if (rowCount === 1) await client.query(`grant ${name} to kasgres_indexer`);
  await client.query(
    `insert into analysts (login, timeout_seconds) values ($1, $2)
     on conflict (login) do update set timeout_seconds = excluded.timeout_seconds, created_at = now()`,
    [name, timeoutSeconds],
  );
}

async function limitTemporaryFiles(
  client: PoolClient,
  name: string,
  onWarning: (message: string) => void,
): Promise<void> {
  await client.query('savepoint before_limit');
  try {
    await client.query(`alter role ${name} set temp_file_limit = '${TEMPORARY_FILES}'`);
  } catch (error) {
    if (!isRefused(error)) throw error;
    await client.query('rollback to before_limit');
    onWarning(
      `The temporary files of ${name} have no limit: a superuser can give it one, with "alter role ${name} set temp_file_limit = '${TEMPORARY_FILES}'".`,
    );
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
}

function orRefused(what: string): (error: unknown) => never {
  return (error) => {
    if (!isRefused(error)) throw error;
    throw new FatalError(
      `The user of this database may not ${what}: ${(error as DatabaseError).message}. The owner of the database can, with the right to make ` +
        'roles (alter role … createrole).',
    );
  };
}

function orTaken(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DatabaseError) || error.code !== ROLE_EXISTS) throw error;
    throw new FatalError(`There is a role ${name} on this server already. Choose another name.`);
  };
}

/** What Postgres keeps of a password (RFC 5802): sent in its place, so that no log of statements has the password. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}

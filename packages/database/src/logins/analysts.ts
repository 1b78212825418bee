/**
 * Logins of analysts: members of the role kasgres_analyst, which sees the views of schema `kaspa` and nothing else (migrations/0009_hardening.sql,
 * `admit_analysts`). Settings of a role do not pass to its members, so each login has its own; those that a person may change for a session are
 * defaults, and what they are to prevent is prevented otherwise: there is nothing to write, and the indexer ends what takes too long.
 */
import { randomBytes } from 'node:crypto';
import { FatalError } from '@kasgres/runtime';
import { Client, DatabaseError, type Pool, type PoolClient } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import { scramVerifier } from './scram-verifier.ts';

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

/** `pg_roles r` that are analysts: who may do more is none, though a superuser or an owner is a member, too. */
const IS_ANALYST_ROLE = `
  not r.rolsuper and not r.rolcreaterole
  and exists (select from pg_roles g where g.rolname = 'kasgres_analyst' and pg_has_role(r.oid, g.oid, 'member'))
  and not exists (select from pg_roles g where g.rolname in ('kasgres_indexer', 'kasgres_api') and pg_has_role(r.oid, g.oid, 'member'))`;
export const IS_ANALYST = `r.rolcanlogin and ${IS_ANALYST_ROLE}`;

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
/** Of a login, over all its connections. Also what a cursor keeps that outlives its transaction. */
const TEMPORARY_FILES_KB = 10 * 1024 * 1024;

/** Settings that only a superuser may make, and so the login cannot lift. */
function superuserSettings(connections: number): Readonly<Record<string, string>> {
  return {
    // Postgres counts by session.
    temp_file_limit: `${Math.ceil(TEMPORARY_FILES_KB / connections)}kB`,
    // Statements that fail are logged whole, and some errors repeat a value of any length: one session could write 100 MB a second.
    log_min_messages: 'fatal',
    log_min_error_statement: 'panic',
  };
}

const INSUFFICIENT_PRIVILEGE = '42501';
const ROLE_EXISTS = '42710';
const DEPENDENT_OBJECTS = '2BP01';

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

interface RemovalOptions {
  /** Drops what the login owns, in each database of the server. */
  dropsOwned: boolean;
}

/**
 * Ends its sessions and removes the login, with the rights that it was given anywhere.
 * @param url of the same database: other databases of the server are reached with it, too
 * @throws {FatalError} when there is no such login, when it owns something and that is not to be dropped, or when the user may not
 */
export async function removeAnalyst(
  { pool, url }: { pool: Pool; url: string },
  name: string,
  { dropsOwned }: RemovalOptions,
): Promise<void> {
  if (!(await isRemovable(pool, name))) {
    throw new FatalError(`There is no analyst ${name}. See: kasgres analysts list`);
  }
  const dependencies = await listDependencies(pool, name);
  const owned = dependencies.filter((dependency) => dependency.owned > 0);
  if (owned.length > 0 && !dropsOwned) throw new FatalError(ownsSomething(name, owned));
  // Committed on its own: who is refused now does not come back before the role is gone. One that is left over can be removed again.
  await pool.query(`alter role "${name}" nologin`).catch(orRefused('remove logins'));
  // Ending its sessions and dropping what it owns take its rights. Superusers have them.
  await pool.query(`grant "${name}" to current_user`).catch(() => undefined);
  await pool
    .query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = $1', [name])
    .catch(orRefused(`end the sessions of ${name}`));
  for (const { database } of dependencies) {
    // What belongs to no database goes with any.
    await dropOwned(database === undefined ? url : inDatabase(url, database), name);
  }
  await pool.query(`drop role "${name}"`).catch(orStillNeeded(name)).catch(orRefused('remove logins'));
  await pool.query('delete from analysts where login = $1', [name]);
}

/** Also a login that was disabled by a removal that failed. */
async function isRemovable(pool: Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_roles r where ${IS_ANALYST_ROLE} and r.rolname = $1 and r.rolname <> 'kasgres_analyst'`,
    [name],
  );
  return rowCount === 1;
}

interface Dependency {
  /** Undefined for what belongs to the server. */
  database: string | undefined;
  /** Objects that the login owns there. Besides, it was given rights. */
  owned: number;
}

async function listDependencies(pool: Pool, name: string): Promise<Dependency[]> {
  const { rows } = await pool.query<{ database: string | null; owned: number }>(
    `select d.datname as database, (count(*) filter (where s.deptype = 'o'))::integer as owned
       from pg_shdepend s left join pg_database d on d.oid = s.dbid
      where s.refclassid = 'pg_authid'::regclass and s.refobjid = (select oid from pg_roles where rolname = $1)
      group by d.datname order by d.datname`,
    [name],
  );
  return rows.map(({ database, owned }) => ({ database: database ?? undefined, owned }));
}

function ownsSomething(name: string, owned: readonly Dependency[]): string {
  const list = owned.map(({ database, owned: count }) =>
    database === undefined ? `${count} databases or tablespaces` : `${count} objects in database ${database}`,
  );
  return (
    `${name} owns ${list.join(', ')}, and nothing was changed. \`kasgres analysts remove ${name} --drop-owned\` drops them. To keep them, ` +
    `run in each of these databases, as a superuser: reassign owned by ${name} to …`
  );
}

function inDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.toString();
}

/** Takes the rights of the login away, and drops what it owns. */
async function dropOwned(url: string, name: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'kasgres analysts' });
  try {
    await client.connect();
    await client.query(`drop owned by "${name}"`);
  } catch (error) {
    const database = decodeURIComponent(new URL(url).pathname.slice(1));
    throw new FatalError(
      `The sessions of ${name} are ended and it can log in no more, but its objects and rights in database ${database} remain: ` +
        `${error instanceof Error ? error.message : String(error)}. A superuser can remove them: psql -d ${database} -c "drop owned by ${name}". ` +
        `Then run \`kasgres analysts remove ${name}\` again.`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function writeLogin(
  client: PoolClient,
  { name, timeoutSeconds, connections }: NewAnalyst,
  password: string,
  onWarning: (message: string) => void,
): Promise<void> {
  await client
    .query('select admit_analysts(); select close_databases_to_analysts()')
    .catch(orRefused('give rights in this database'));
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
  await applySuperuserSettings(client, name, connections, onWarning);
  const { rowCount } = await client.query(`select from pg_roles where rolname = 'kasgres_indexer'`);
  if (rowCount === 1) await client.query(`grant ${name} to kasgres_indexer`);
  await client.query(
    `insert into analysts (login, timeout_seconds) values ($1, $2)
     on conflict (login) do update set timeout_seconds = excluded.timeout_seconds, created_at = now()`,
    [name, timeoutSeconds],
  );
}

async function applySuperuserSettings(
  client: PoolClient,
  name: string,
  connections: number,
  onWarning: (message: string) => void,
): Promise<void> {
  const statements = Object.entries(superuserSettings(connections)).map(
    ([setting, value]) => `alter role ${name} set ${setting} = '${value}'`,
  );
  await client.query('savepoint before_settings');
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if (!isRefused(error)) throw error;
    await client.query('rollback to before_settings');
    onWarning(
      `${name} can fill the disk with temporary files and with Postgres's log. A superuser can prevent it: ${statements.join('; ')}`,
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

function orStillNeeded(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DatabaseError) || error.code !== DEPENDENT_OBJECTS) throw error;
    throw new FatalError(
      `The sessions of ${name} are ended and it can log in no more, but something still depends on it: ${error.detail ?? error.message}. ` +
        `Remove that as a superuser, then run \`kasgres analysts remove ${name}\` again.`,
    );
  };
}

function orTaken(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DatabaseError) || error.code !== ROLE_EXISTS) throw error;
    throw new FatalError(`There is a role ${name} on this server already. Choose another name.`);
  };
}

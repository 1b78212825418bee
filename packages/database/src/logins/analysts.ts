/**
 * Logins of analysts: members of the role kasgres_analyst, which can read only the views of schema
 * `kaspa` (migrations/0001_schema.sql, `admit_analysts`). Members do not inherit settings of a
 * role, so each login has its own. Settings that a user may change in a session are only defaults:
 * logins have no right to write, and the indexer terminates transactions that take too long.
 */
import { randomBytes } from 'node:crypto';
import { FatalError } from '@kasgres/runtime';
import { Client, DatabaseError, type Pool, type PoolClient } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import { scramVerifier } from './read-only-login.ts';
import { clientConfig } from '../connection/client-config.ts';

interface NewAnalyst {
  name: string;
  /** Time limit of a statement, and of an idle transaction. */
  timeoutSeconds: number;
  /** Maximum number of open connections. */
  connections: number;
}

interface Analyst extends NewAnalyst {
  /** Undefined for a login that was created by hand. */
  createdAt: Date | undefined;
}

/** These defaults also apply to logins that were created by hand. */
export const DEFAULT_TIMEOUT_SECONDS = 60;
export const DEFAULT_ANALYST_CONNECTIONS = 5;

/**
 * Limit of a transaction as a multiple of the limit of a statement: an old transaction blocks
 * vacuum.
 */
export const TRANSACTION_TIMEOUTS = 10;

/** Names of logins. Some are reserved words, so statements quote them. */
export const ANALYST_NAME = /^(?!pg_|kasgres_)[a-z_][a-z0-9_]{0,62}$/;

/**
 * Condition that `pg_roles r` is an analyst. Superusers and owners are members too, but may do
 * more.
 */
const IS_ANALYST_ROLE = `
  not r.rolsuper and not r.rolcreaterole
  and exists (select from pg_roles g
    where g.rolname = 'kasgres_analyst' and pg_has_role(r.oid, g.oid, 'member'))
  and not exists (select from pg_roles g
    where g.rolname in ('kasgres_indexer', 'kasgres_api') and pg_has_role(r.oid, g.oid, 'member'))`;
export const IS_ANALYST = `r.rolcanlogin and ${IS_ANALYST_ROLE}`;

const SETTINGS = {
  search_path: 'kaspa',
  default_transaction_read_only: 'on',
  lock_timeout: '10s',
  work_mem: '64MB',
  // Compilation takes longer than a short query. The cost is that of an SSD.
  jit: 'off',
  random_page_cost: '1.1',
  // A join of three views has more tables than Postgres plans together by default. From twelve
  // tables on it uses the genetic planner.
  join_collapse_limit: '11',
  from_collapse_limit: '11',
} as const;
/** Limit of a login over all its connections, including cursors that outlive their transaction. */
const TEMPORARY_FILES_KB = 10 * 1024 * 1024;

/** Settings that only a superuser may change. */
function superuserSettings(connections: number): Readonly<Record<string, string>> {
  return {
    // Postgres applies the limit to each session.
    temp_file_limit: `${Math.ceil(TEMPORARY_FILES_KB / connections)}kB`,
    // Failing statements are logged in full, so one session could write 100 MB of log a second.
    log_min_messages: 'fatal',
    log_min_error_statement: 'panic',
  };
}

const INSUFFICIENT_PRIVILEGE = '42501';
const ROLE_EXISTS = '42710';
const DEPENDENT_OBJECTS = '2BP01';

/**
 * Creates a login with its rights in this database, and returns its password, which cannot be read
 * again.
 * @param onWarning called for limits that could not be set on this server
 * @throws {FatalError} if the user may not create roles, or the name is taken
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
    `select r.rolname as name, coalesce(a.timeout_seconds, ${DEFAULT_TIMEOUT_SECONDS}) as timeout,
      r.rolconnlimit as connections, a.created_at
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
  /** Drops the objects that the login owns in all databases of the server. */
  dropsOwned: boolean;
}

/**
 * Terminates the sessions of a login and removes it with all its rights.
 * @param url of the database, from which the URLs of the server's other databases are derived
 * @throws {FatalError} if there is no such login, if it owns objects that must not be dropped, or
 * if the user lacks the right
 */
export async function removeAnalyst(
  { pool, url }: { pool: Pool; url: string },
  name: string,
  { dropsOwned }: RemovalOptions,
): Promise<void> {
  if (!(await isRemovable(pool, name))) {
    throw new FatalError(`There is no analyst ${name}. Run \`kasgres analysts list\` to see all analysts.`);
  }
  const dependencies = await listDependencies(pool, name);
  const owned = dependencies.filter((dependency) => dependency.owned > 0);
  if (owned.length > 0 && !dropsOwned) throw new FatalError(ownsSomething(name, owned));
  // Committed separately, so that terminated sessions cannot reconnect. If a later step fails, the
  // removal can be repeated.
  await pool.query(`alter role "${name}" nologin`).catch(orRefused('remove logins'));
  // Terminating its sessions and dropping its objects need membership. Superusers have these rights
  // anyway.
  await pool.query(`grant "${name}" to current_user`).catch(() => undefined);
  await pool
    .query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = $1', [name])
    .catch(orRefused(`end the sessions of ${name}`));
  for (const { database } of dependencies) {
    // Objects that belong to no database are dropped from any database.
    await dropOwned(database === undefined ? url : inDatabase(url, database), name);
  }
  await pool.query(`drop role "${name}"`).catch(orStillNeeded(name)).catch(orRefused('remove logins'));
  await pool.query('delete from analysts where login = $1', [name]);
}

/** Includes a login that a failed removal has disabled. */
async function isRemovable(pool: Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_roles r where ${IS_ANALYST_ROLE} and r.rolname = $1 and r.rolname <> 'kasgres_analyst'`,
    [name],
  );
  return rowCount === 1;
}

interface Dependency {
  /** Undefined for objects of the server. */
  database: string | undefined;
  /** Number of objects that the login owns there, without its rights. */
  owned: number;
}

async function listDependencies(pool: Pool, name: string): Promise<Dependency[]> {
  const { rows } = await pool.query<{ database: string | null; owned: number }>(
    `select d.datname as database, (count(*) filter (where s.deptype = 'o'))::integer as owned
       from pg_shdepend s left join pg_database d on d.oid = s.dbid
      where s.refclassid = 'pg_authid'::regclass
        and s.refobjid = (select oid from pg_roles where rolname = $1)
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

/** Revokes the rights of the login and drops its objects. */
async function dropOwned(url: string, name: string): Promise<void> {
  const client = new Client({ ...clientConfig(url), application_name: 'kasgres analysts' });
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
      `create role "${name}" login password '${scramVerifier(password)}' connection
        limit ${connections} in role kasgres_analyst`,
    )
    .catch(orTaken(name))
    .catch(orRefused('make logins'));
  const timeouts = {
    statement_timeout: `${timeoutSeconds}s`,
    idle_in_transaction_session_timeout: `${timeoutSeconds}s`,
  };
  for (const [setting, value] of Object.entries({ ...SETTINGS, ...timeouts })) {
    await client.query(`alter role "${name}" set ${setting} = '${value}'`);
  }
  await applySuperuserSettings(client, name, connections, onWarning);
  const { rowCount } = await client.query(`select from pg_roles where rolname = 'kasgres_indexer'`);
  if (rowCount === 1) await client.query(`grant "${name}" to kasgres_indexer`);
  await client.query(
    `insert into analysts (login, timeout_seconds) values ($1, $2)
     on conflict (login) do update
       set timeout_seconds = excluded.timeout_seconds, created_at = now()`,
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
    ([setting, value]) => `alter role "${name}" set ${setting} = '${value}'`,
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

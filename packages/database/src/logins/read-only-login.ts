/**
 * A user of the database that can only read. `default_transaction_read_only` is a default that any statement may switch off, and a role that a
 * session takes on with `set role` is one that it may leave: so what is to be read-only logs in as a user that has no right to write.
 */
import { randomBytes } from 'node:crypto';
import { Client, DatabaseError, type ClientBase } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import { scramVerifier } from './scram-verifier.ts';

const PREFIX = 'kasgres_sql_';
/** For how long the login lets in. A session that it let in has no such limit. */
const PASSWORD_LIFETIME_SECONDS = 60;
const INSUFFICIENT_PRIVILEGE = '42501';

export interface Reader {
  url: string;
  /** False where the user of `url` may write, and may not make a login that cannot. */
  isRestricted: boolean;
  /** Whether it can make large objects, as everybody can until a superuser has taken that away. */
  mayMakeLargeObjects: boolean;
  /** Removes what was made for it. */
  close: () => Promise<void>;
}

/**
 * Returns a user that can only read: the one of the URL if that is so already (an analyst, or any user on a standby), else a login for one
 * session, where the user of the URL may make roles.
 */
export async function makeReader(url: string): Promise<Reader> {
  const client = new Client({ connectionString: url, application_name: 'kasgres sql' });
  // While the session of the reader lasts, nobody looks at this connection.
  client.on('error', () => undefined);
  await client.connect();
  let isKept = false;
  try {
    const mayMakeLargeObjects = await mayEverybodyMakeLargeObjects(client);
    const asIs = { url, mayMakeLargeObjects, close: async () => undefined };
    if (!(await mayWrite(client))) return { ...asIs, isRestricted: true };
    const login = await makeLogin(client, url);
    if (login === undefined) return { ...asIs, isRestricted: false };
    isKept = true;
    const close = async (): Promise<void> => {
      try {
        await removeLogins(client, login.name);
      } finally {
        await client.end();
      }
    };
    return { url: login.url, isRestricted: true, mayMakeLargeObjects, close };
  } finally {
    if (!isKept) await client.end();
  }
}

/** Whether the user may change anything in this database, by itself or as a member of another role. */
async function mayWrite(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may_write: boolean }>(
    `select not pg_is_in_recovery() and (
       exists (select from pg_roles r where pg_has_role(r.oid, 'member') and (r.rolsuper or r.rolcreaterole or r.rolname like 'pg\\_%'))
       or has_database_privilege(current_database(), 'create')
       or exists (select from pg_namespace n where has_schema_privilege(n.oid, 'create'))
       or exists (select from pg_class c
                   where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
                     and (pg_has_role(c.relowner, 'member') or has_table_privilege(c.oid, 'insert, update, delete, truncate')))
     ) as may_write`,
  );
  return rows[0]?.may_write === true;
}

async function mayEverybodyMakeLargeObjects(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `select not pg_is_in_recovery() and has_function_privilege('public', 'pg_catalog.lo_create(oid)', 'execute') as may`,
  );
  return rows[0]?.may === true;
}

/** @returns undefined where the user may not make it, or the server does not let it in */
async function makeLogin(client: ClientBase, url: string): Promise<{ name: string; url: string } | undefined> {
  const name = PREFIX + randomBytes(8).toString('hex');
  const password = randomBytes(24).toString('hex');
  const address = new URL(url);
  address.username = name;
  address.password = password;
  try {
    await inTransaction(client, async () => {
      await client.query(
        `create role ${name} login password '${scramVerifier(password)}'
           valid until '${new Date(Date.now() + PASSWORD_LIFETIME_SECONDS * 1000).toISOString()}'`,
      );
      await letRead(client, name);
    });
    const attempt = new Client({ connectionString: address.toString() });
    await attempt.connect();
    await attempt.end();
    return { name, url: address.toString() };
  } catch (error) {
    // Not allowed to, or left out by pg_hba.conf.
    if (!(error instanceof DatabaseError)) throw error;
    await removeLogins(client, name);
    return undefined;
  }
}

async function letRead(client: ClientBase, name: string): Promise<void> {
  await client.query('savepoint before_all_data');
  try {
    await client.query(`grant pg_read_all_data to ${name}`);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    await client.query('rollback to before_all_data');
    await client.query(`grant usage on schema public, kaspa to ${name}`);
    await client.query(`grant select on all tables in schema public, kaspa to ${name}`);
  }
}

/** Removes the login, and those that processes left which were killed: they let nobody in any more. */
async function removeLogins(client: ClientBase, own: string): Promise<void> {
  const { rows } = await client.query<{ rolname: string }>(
    `select rolname from pg_roles r
      where rolname = $1
         or rolname ~ '^${PREFIX}[0-9a-f]{16}$' and rolvaliduntil < now()
            and not exists (select from pg_stat_activity where usesysid = r.oid)`,
    [own],
  );
  for (const { rolname } of rows) {
    // Only a member may drop what was granted to it. Another user's are left to that user.
    await client.query(`grant ${rolname} to current_user`).catch(() => undefined);
    await inTransaction(client, () => client.query(`drop owned by ${rolname}; drop role ${rolname}`)).catch(
      () => undefined,
    );
  }
}

/**
 * A database user that can only read. Any statement can switch off `default_transaction_read_only`,
 * and a session can leave a role that it took with `set role`, so a read-only session must log in
 * as a user without the right to write.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, DatabaseError, type ClientBase } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import { clientConfig } from '../connection/client-config.ts';

const PREFIX = 'kasgres_sql_';
/** How long the login accepts connections. Sessions may last longer. */
const PASSWORD_LIFETIME_SECONDS = 60;
const INSUFFICIENT_PRIVILEGE = '42501';

export interface Reader {
  url: string;
  /** False if the user of `url` may write, and may not create a restricted login. */
  isRestricted: boolean;
  /** Whether it can create large objects, as every user can until a superuser revokes that. */
  mayMakeLargeObjects: boolean;
  /** Removes the login if one was created. */
  close: () => Promise<void>;
}

/**
 * Returns a user that can only read: the user of the URL if it cannot write (an analyst, or any
 * user on a standby), else a new login for one session, if the user of the URL may create roles.
 */
export async function makeReader(url: string): Promise<Reader> {
  const client = new Client({ ...clientConfig(url), application_name: 'kasgres sql' });
  // This connection is idle during the session, and an unhandled error event would crash the
  // process.
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

/** Returns whether the user may change this database, by itself or as a member of another role. */
async function mayWrite(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may_write: boolean }>(
    `select not pg_is_in_recovery() and (
       exists (select from pg_roles r
         where pg_has_role(r.oid, 'member')
           and (r.rolsuper or r.rolcreaterole or r.rolname like 'pg\\_%'))
       or has_database_privilege(current_database(), 'create')
       or exists (select from pg_namespace n where has_schema_privilege(n.oid, 'create'))
       or exists (select from pg_class c
                   where c.relkind in ('r', 'p', 'v', 'm', 'f')
                     and c.relnamespace not in ('pg_catalog'::regnamespace,
                       'information_schema'::regnamespace)
                     and (pg_has_role(c.relowner, 'member')
                       or has_table_privilege(c.oid, 'insert, update, delete, truncate')))
     ) as may_write`,
  );
  return rows[0]?.may_write === true;
}

async function mayEverybodyMakeLargeObjects(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `select not pg_is_in_recovery()
      and has_function_privilege('public', 'pg_catalog.lo_create(oid)', 'execute') as may`,
  );
  return rows[0]?.may === true;
}

/** @returns undefined if the user may not create it, or the server does not accept it */
async function makeLogin(client: ClientBase, url: string): Promise<{ name: string; url: string } | undefined> {
  const name = PREFIX + randomBytes(8).toString('hex');
  const password = randomBytes(24).toString('hex');
  const address = new URL(url);
  address.username = name;
  address.password = password;
  try {
    await inTransaction(client, async () => {
      // By the server's clock, which judges it.
      const { rows } = await client.query<{ expires_at: string }>(
        `select (now() + interval '${PASSWORD_LIFETIME_SECONDS} seconds')::text as expires_at`,
      );
      await client.query(
        `create role ${name} login password '${scramVerifier(password)}' valid until '${rows[0]?.expires_at}'`,
      );
      await letRead(client, name);
    });
    const attempt = new Client({ ...clientConfig(address.toString()) });
    await attempt.connect();
    await attempt.end();
    return { name, url: address.toString() };
  } catch (error) {
    // The user lacks the right, or pg_hba.conf rejects the login.
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

/** Removes the login, and expired ones that killed processes have left behind. */
async function removeLogins(client: ClientBase, own: string): Promise<void> {
  const { rows } = await client.query<{ rolname: string }>(
    `select rolname from pg_roles r
      where rolname = $1
         or rolname ~ '^${PREFIX}[0-9a-f]{16}$' and rolvaliduntil < now()
            and not exists (select from pg_stat_activity where usesysid = r.oid)`,
    [own],
  );
  for (const { rolname } of rows) {
    // Only a member may drop the grants. Logins that another user created are left to that user.
    await client.query(`grant ${rolname} to current_user`).catch(() => undefined);
    await inTransaction(client, () => client.query(`drop owned by ${rolname}; drop role ${rolname}`)).catch(
      () => undefined,
    );
  }
}

/**
 * Returns the verifier of a password that Postgres stores (RFC 5802). It is sent in place of the
 * password, so that no statement log contains it.
 */
export function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}

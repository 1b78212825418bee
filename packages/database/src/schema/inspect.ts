/** Inspects a database before anything is written to it. */
import { FatalError } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import { findPending, readMigrations, selectApplied } from './migrations.ts';

export interface DatabaseState {
  /** Identifies the database independently of its address. */
  id: string;
  /** Names of the pending migrations: all of them on an empty database. */
  pending: readonly string[];
  /** The indexed network; undefined before the first run of an indexer. */
  network: string | undefined;
  /**
   * Hash, in hex, of the chain block after the bootstrap block, in which two chains of one network
   * differ.
   */
  secondBlock: string | undefined;
  /** There is no index, no key and no tag. */
  isUnused: boolean;
}

const OLDEST_VERSION = 15;

/**
 * Reads the state of the database.
 * @throws {FatalError} if no indexer can use the database, even after a migration: the server is
 * too old or read-only, the database contains other tables, its schema is newer than this program,
 * or the role lacks rights
 */
export async function inspectDatabase(client: ClientBase): Promise<DatabaseState> {
  await checkServer(client);
  const hasSchema = await hasSchemaOfKasgres(client);
  const known = await readMigrations();
  const applied = hasSchema ? await selectApplied(client) : [];
  const pending = findPending(known, applied).map(({ name }) => name);
  await checkRights(client, applied.length > 0, pending.length > 0);
  return { id: await getId(client), pending, ...(await findContent(client, applied.length > 0)) };
}

async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; is_standby: boolean; is_read_only: boolean }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
       pg_is_in_recovery() as is_standby,
       current_setting('transaction_read_only')::boolean as is_read_only`,
  );
  for (const { version, number, is_standby: isStandby, is_read_only: isReadOnly } of rows) {
    if (number < OLDEST_VERSION * 10_000) {
      throw new FatalError(
        `It is Postgres ${version}: Kasgres needs ${OLDEST_VERSION} or newer. Upgrade it, or use another server.`,
      );
    }
    if (isStandby) throw new FatalError('It is a standby, which only reads. Name its primary in DATABASE_URL.');
    if (isReadOnly) {
      throw new FatalError(
        'Its transactions are read-only (default_transaction_read_only). Switch that off for this role and database, or use others.',
      );
    }
  }
}

/**
 * Returns whether the database has a Kasgres schema of any version.
 * @throws {FatalError} if it has tables of another program
 */
async function hasSchemaOfKasgres(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ schema: string | null; tables: string[]; is_kasgres: boolean }>(
    `select current_schema() as schema,
       coalesce((select array_agg(c.relname::text order by c.relname) from pg_class c
          where c.relnamespace = to_regnamespace(quote_ident(current_schema()))
            and c.relkind in ('r', 'p')
            and not exists (select from pg_depend d
              where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
       ), '{}') as tables,
       (select count(*) = 3 from pg_attribute a
          where a.attrelid = to_regclass('migrations')
            and a.attname in ('number', 'name', 'checksum')) as is_kasgres`,
  );
  const [row] = rows;
  if (row === undefined || row.schema === null) {
    throw new FatalError('The search_path of this role names no existing schema. Create one, or use another role.');
  }
  if (row.is_kasgres) return true;
  if (row.tables.length === 0) return false;
  const some = row.tables.slice(0, 3).join(', ');
  throw new FatalError(
    `It has tables of another program (${some}${row.tables.length > 3 ? ', …' : ''}). Use a separate database: \`createdb kasgres\`.`,
  );
}

async function checkRights(client: ClientBase, hasSchema: boolean, mustMigrate: boolean): Promise<void> {
  if (mustMigrate) {
    const { rows } = await client.query<{ role: string; allowed: boolean }>(
      `select current_user as role, has_schema_privilege(current_schema(), 'create')
         and (to_regnamespace('kaspa') is not null
           or has_database_privilege(current_database(), 'create'))
         and coalesce((select pg_has_role(relowner, 'usage') from pg_class
           where oid = to_regclass('migrations')), true) as allowed`,
    );
    for (const { role, allowed } of rows) {
      if (!allowed) {
        const what = hasSchema ? 'change its tables, which it does not own' : 'create tables and schemas in it';
        throw new FatalError(
          `The role ${role} may not ${what}. Run \`kasgres migrate\` as the owner of the database, or name that role in DATABASE_URL.`,
        );
      }
    }
    return;
  }
  const { rows } = await client.query<{ role: string; allowed: boolean }>(
    `select current_user as role, has_table_privilege('checkpoint', 'select, insert, update') as allowed`,
  );
  for (const { role, allowed } of rows) {
    if (!allowed) {
      throw new FatalError(
        `The role ${role} may not write to its tables. Grant it what ops/roles.sql grants kasgres_indexer, or name another role in DATABASE_URL.`,
      );
    }
  }
}

/** Returns the system identifier of the cluster and the oid of the database. */
async function getId(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `select system_identifier::text || '/' || (select oid from pg_database where datname = current_database()) as id
     from pg_control_system()`,
  );
  return rows[0]?.id ?? '';
}

/** Reads columns that every version of the schema has. */
async function findContent(
  client: ClientBase,
  hasSchema: boolean,
): Promise<Pick<DatabaseState, 'network' | 'secondBlock' | 'isUnused'>> {
  if (!hasSchema) return { network: undefined, secondBlock: undefined, isUnused: true };
  const { rows } = await client.query<{ network: string | null; second: string | null; isUnused: boolean }>(
    `select (select network from meta) as network,
       (select encode(b.hash, 'hex') from chain_blocks c join blocks b on b.id = c.block_id
         where c.index = 1) as second,
       not exists (select from meta) and not exists (select from api_keys)
         and not exists (select from tags) as "isUnused"`,
  );
  const { network = null, second = null, isUnused = true } = rows[0] ?? {};
  return { network: network ?? undefined, secondBlock: second ?? undefined, isUnused };
}

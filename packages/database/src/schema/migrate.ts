/**
 * Migrates a database to the schema of this program, as an explicit step (`kasgres migrate`, and
 * part of `kasgres start`). Indexer and API only check the schema. An advisory lock serialises
 * concurrent migrators.
 */
import { FatalError } from '@kasgres/runtime';
import type { ClientBase, Pool } from 'pg';
import { ASK_AFTER_SILENCE_MS, connect } from '../connection/connect.ts';
import { SchemaError } from '../connection/errors.ts';
import { type ExclusiveLockOptions, LockedOutError, withExclusiveLocks } from '../connection/exclusive-locks.ts';
import {
  type AppliedMigration,
  findPending,
  MIGRATIONS_DIRECTORY,
  readMigrations,
  selectApplied,
} from './migrations.ts';

/** Key of the advisory lock: "kasgres" in ASCII. Advisory locks are per database. */
const LOCK_KEY = 0x6b61736772657300n;

const CREATE_TABLE = `
  create table if not exists migrations (
    number integer not null,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now(),
    constraint migrations_pkey primary key (number)
  );
  comment on table migrations is 'Which migrations were applied. Written by kasgres migrate.';
  comment on column migrations.number is 'Number of the migration, from 1.';
  comment on column migrations.name is 'File name without its ending.';
  comment on column migrations.checksum is 'SHA-256 of the file, hex. A file that changed later is refused.';
  comment on column migrations.applied_at is 'When it was applied.';`;

/** Longer than any statement of the API, or of an analyst with default limits. */
const WAIT_FOR_LOCKS_MS = 10 * 60_000;
/** Longer than the pauses between two statements (exclusive-locks.ts). */
const IDLE_LIMIT = '60s';

interface MigrateOptions extends Omit<ExclusiveLockOptions, 'observer'> {
  /** The directory of the SQL files, for tests. */
  directory?: URL;
  /** Called with the name of each migration before it is applied. */
  onMigration?: (name: string) => void;
}

/**
 * Applies pending migrations, each in a separate transaction, and returns their names. A migration
 * that is blocked by a session is rolled back at once and retried, so that readers are not blocked.
 * @throws {SchemaError} if the database is newer than this program, or an applied migration was
 * changed
 * @throws {FatalError} if a session blocked a migration for too long
 */
export async function migrate(database: string | Pool, options: MigrateOptions = {}): Promise<string[]> {
  const known = await readMigrations(options.directory ?? MIGRATIONS_DIRECTORY);
  return await withPool(database, async (client, observer) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    try {
      await checkEncoding(client);
      await client.query(`set client_min_messages = warning; ${CREATE_TABLE}`);
      const pending = findPending(known, await selectApplied(client));
      for (const migration of pending) {
        options.onMigration?.(migration.name);
        await applyMigration(client, migration, { waitMs: WAIT_FOR_LOCKS_MS, ...options, observer });
      }
      return pending.map(({ name }) => name);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
      await client.query('reset client_min_messages');
    }
  });
}

/**
 * Returns the names of the migrations that `migrate` would apply. Changes nothing.
 * @throws {SchemaError} if the database cannot be migrated: it is newer than this program, or an
 * applied migration was changed
 */
export async function planMigration(database: string | Pool, directory: URL = MIGRATIONS_DIRECTORY): Promise<string[]> {
  const known = await readMigrations(directory);
  return await withPool(database, async (client) => {
    await checkEncoding(client);
    const { rows } = await client.query<{ found: boolean }>(`select to_regclass('migrations') is not null as found`);
    const pending = findPending(known, rows[0]?.found === true ? await selectApplied(client) : []);
    return pending.map(({ name }) => name);
  });
}

/** @throws {FatalError} for a database that cannot hold every text */
async function checkEncoding(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ encoding: string; name: string }>(
    `select current_setting('server_encoding') as encoding, current_database() as name`,
  );
  const { encoding, name } = rows[0] ?? {};
  if (encoding === 'UTF8') return;
  throw new FatalError(
    `The database ${name} has the encoding ${encoding}, and names and texts of the chain need UTF8. Create another one: ` +
      `createdb --encoding UTF8 --template template0 --locale C kasgres`,
  );
}

/**
 * Checks that this program fits the schema of the database.
 * @throws {SchemaError} if the schema is missing, older, newer or changed
 */
export async function checkSchema(pool: Pool, directory: URL = MIGRATIONS_DIRECTORY): Promise<void> {
  const known = await readMigrations(directory);
  const { rows } = await pool
    .query<{ found: boolean; pinned: boolean }>(
      `select to_regclass('migrations') is not null as found,
        current_setting('kasgres.pinned', true) = 'yes' as pinned`,
    )
    .catch((error: unknown) => {
      // PgBouncer gives it the code of a lost connection, but would refuse the next one, too.
      const isRefused = error instanceof Error && error.message.startsWith('unsupported startup parameter');
      throw isRefused ? settingsLost(`refused them: ${error.message}`) : error;
    });
  if (rows[0]?.pinned !== true) throw settingsLost('dropped them');
  if (!rows[0].found) {
    throw new SchemaError('The database has no Kasgres schema yet. Run `kasgres migrate` first.');
  }
  const pending = findPending(known, await selectApplied(pool));
  if (pending.length > 0) {
    throw new SchemaError(
      `The database's schema is older than this program: ${known.length - pending.length} of ${known.length} migrations ` +
        `are applied, ${pending[0]?.name} comes next. Run \`kasgres migrate\` first.`,
    );
  }
}

function settingsLost(how: string): FatalError {
  return new FatalError(
    `The settings of this connection did not reach Postgres, so that results could be wrong: a pooler such as PgBouncer ${how}. ` +
      'Connect to Postgres itself: the programs have their own pools, and need locks of sessions (docs/operations.md, "Postgres").',
  );
}

async function applyMigration(
  client: ClientBase,
  { number, name, sql, checksum }: AppliedMigration & { sql: string },
  options: ExclusiveLockOptions,
): Promise<void> {
  const apply = async (): Promise<void> => {
    await client.query(sql);
    await client.query('insert into migrations (number, name, checksum) values ($1, $2, $3)', [number, name, checksum]);
  };
  try {
    await withExclusiveLocks(client, apply, options);
  } catch (error) {
    if (!(error instanceof LockedOutError)) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new FatalError(`Migration ${name} failed and was rolled back: ${reason}.`, { cause: error });
    }
    throw new FatalError(
      `Migration ${name} was rolled back. ${error.message}. Wait until that session has ended, or terminate it: ` +
        '`kasgres migrate --end-blocking-sessions` terminates those of analysts, `--end-blocking-sessions all` any.',
      { cause: error },
    );
  }
}

/**
 * Runs with a connection for the migrations and a pool for others. Closing the connection releases
 * the advisory lock in any case.
 */
async function withPool<Result>(
  database: string | Pool,
  run: (client: ClientBase, observer: Pool) => Promise<Result>,
): Promise<Result> {
  if (typeof database === 'string') {
    const { pool, close } = connect({
      url: database,
      max: 2,
      applicationName: 'kasgres migrate',
      askAfterSilenceMs: ASK_AFTER_SILENCE_MS,
      // A session whose connection is lost must not keep the lock of migrations.
      settings: { idle_session_timeout: IDLE_LIMIT, idle_in_transaction_session_timeout: IDLE_LIMIT },
    });
    try {
      return await withPool(pool, run);
    } finally {
      await close();
    }
  }
  const client = await database.connect();
  try {
    const result = await run(client, database);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

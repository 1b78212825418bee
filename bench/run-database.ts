/** Databases of benchmarks, and keys in them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Connection, createKey, migrate } from '@kasgres/database';
import { startEmbeddedPostgres } from '@kasgres/database/embedded';
import { createMigratedDatabase } from '@kasgres/database/testing';

/** Names of Postgres have 63 characters; this leaves room for the rest. */
const MAX_NAME_CHARACTERS = 40;

export interface OpenDatabase extends Connection {
  url: string;
}

/** Opens a connection until the end. */
export function openDatabase(ends: AsyncDisposableStack, url: string, max = 4): OpenDatabase {
  const connection = connect({ url, applicationName: 'kasgres bench', max });
  ends.defer(connection.close);
  return { ...connection, url };
}

/**
 * Opens a migrated, otherwise empty database beside that of DATABASE_URL, or on a separate embedded
 * Postgres.
 * @param keepAs returns the name that the database gets at the end; it is dropped without one
 */
export async function openRunDatabase(
  ends: AsyncDisposableStack,
  keepAs: () => string = () => '',
): Promise<OpenDatabase> {
  const serverUrl = process.env['DATABASE_URL'];
  if (!serverUrl) {
    const url = await startDurablePostgres(ends);
    await migrate(url);
    return openDatabase(ends, url);
  }
  const named = new URL(serverUrl).pathname.replaceAll(/[^a-z0-9_]/g, '_').slice(0, MAX_NAME_CHARACTERS);
  const database = await createMigratedDatabase({ url: serverUrl, stop: async () => undefined }, `bench${named}`);
  ends.defer(async () => {
    const name = keepAs();
    if (name === '') await database.drop();
    else await rename(serverUrl, database.url, name);
  });
  return openDatabase(ends, database.url);
}

async function rename(serverUrl: string, url: string, name: string): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const { pool } = openDatabase(ends, serverUrl, 1);
  const { rows } = await pool.query<{ statement: string }>(
    `select format('alter database %I rename to %I', $1::text, $2::text) as statement`,
    [new URL(url).pathname.slice(1), name],
  );
  await pool.query(rows[0]?.statement ?? '');
}

/** Starts a temporary Postgres that waits for the disk, as that of `npm start` does. */
export async function startDurablePostgres(ends: AsyncDisposableStack): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'kasgres-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  ends.defer(async () => {
    await postgres.stop();
    // Postgres writes elsewhere if its account cannot enter the directory.
    for (const written of [postgres.directory, dataDir]) await rm(written, { recursive: true, force: true });
  });
  return postgres.url;
}

/** Creates a key whose limits no benchmark reaches. It is deleted at the end with its usage. */
export async function createTemporaryKey(
  ends: AsyncDisposableStack,
  { kysely, pool }: Connection,
  concurrency: number,
): Promise<string> {
  const { id, key } = await createKey(kysely, { name: `bench ${Date.now()}`, rateRu: 1e9, concurrency });
  ends.defer(async () => {
    for (const statement of ['delete from api_key_usage where api_key_id = $1', 'delete from api_keys where id = $1'])
      await pool.query(statement, [id]);
  });
  return key;
}

/** Migrated, otherwise empty databases, each for one run. */
import { connect, migrate } from '@kasgres/database';
import { createMigratedDatabase } from '@kasgres/database/testing';
import { startDurablePostgres } from './durable-postgres.ts';

/** Names of Postgres have 63 characters; this leaves room for the rest. */
const MAX_NAME_CHARACTERS = 40;

export interface RunDatabase {
  url: string;
  /** Drops the database, or gives it this name. Connections must be closed. */
  end: (keepAs?: string) => Promise<void>;
}

/** Creates a database beside that of DATABASE_URL, or on a separate embedded Postgres. */
export async function createRunDatabase(): Promise<RunDatabase> {
  const serverUrl = process.env['DATABASE_URL'];
  if (!serverUrl) {
    const postgres = await startDurablePostgres();
    await migrate(postgres.url);
    return { url: postgres.url, end: async () => await postgres.stop() };
  }
  const named = new URL(serverUrl).pathname.replaceAll(/[^a-z0-9_]/g, '_').slice(0, MAX_NAME_CHARACTERS);
  const database = await createMigratedDatabase({ url: serverUrl, stop: async () => undefined }, `bench${named}`);
  const end = async (keepAs?: string): Promise<void> => {
    if (keepAs === undefined) await database.drop();
    else await rename(serverUrl, database.url, keepAs);
  };
  return { url: database.url, end };
}

async function rename(serverUrl: string, url: string, name: string): Promise<void> {
  const { pool, close } = connect({ url: serverUrl, applicationName: 'kasgres bench', max: 1 });
  try {
    const { rows } = await pool.query<{ statement: string }>(
      `select format('alter database %I rename to %I', $1::text, $2::text) as statement`,
      [new URL(url).pathname.slice(1), name],
    );
    await pool.query(rows[0]?.statement ?? '');
  } finally {
    await close();
  }
}

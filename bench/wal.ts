/** The write-ahead log that a benchmark causes. Other databases of the server count too. */
import type { Connection } from '@kasgres/database';

export async function readWalPosition({ pool }: Connection): Promise<string> {
  const { rows } = await pool.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn');
  return rows[0]?.lsn ?? '';
}

/** Returns whether the content of the log can be read. Installs an extension. */
export async function enableWalStatistics({ pool }: Connection): Promise<boolean> {
  return await pool.query('create extension if not exists pg_walinspect').then(
    () => true,
    () => false,
  );
}

export interface Wal {
  bytes: number;
  /**
   * The part of them that is images of whole pages, which Postgres writes when a page changes for
   * the first time after a checkpoint. Undefined if they cannot be read.
   */
  fullPageBytes: number | undefined;
}

/** @param reads whether the content of the log can be read */
export async function measureWal(database: Connection, from: string, to: string, reads: boolean): Promise<Wal> {
  const { rows } = await database.pool.query<{ bytes: number }>('select pg_wal_lsn_diff($2, $1)::float8 as bytes', [
    from,
    to,
  ]);
  const fullPageBytes = reads ? await readFullPageBytes(database, from, to) : undefined;
  return { bytes: rows[0]?.bytes ?? Number.NaN, fullPageBytes };
}

/** SQLSTATE undefined_file: a file of the log has been removed. */
const UNDEFINED_FILE = '58P01';

/**
 * Returns undefined if Postgres has removed files of this part of the log, as it may at each
 * checkpoint. A replication slot would keep them, but needs `wal_level = replica`.
 */
async function readFullPageBytes({ pool }: Connection, from: string, to: string): Promise<number | undefined> {
  try {
    const { rows } = await pool.query<{ bytes: number }>(
      'select sum(fpi_size)::float8 as bytes from pg_get_wal_stats($1, $2)',
      [from, to],
    );
    return rows[0]?.bytes;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_FILE) return undefined;
    throw error;
  }
}

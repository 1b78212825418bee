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
   * Of these: pages that are written whole, because they changed for the first time after a checkpoint. Unknown if the beginning of the log
   * has been removed, as every checkpoint may do. A replication slot would keep it, but needs `wal_level = replica`.
   */
  fullPageBytes: number | undefined;
}

/** SQLSTATE undefined_file: a segment of the log has been removed. */
const UNDEFINED_FILE = '58P01';

/** @param reads whether the content of the log can be read */
export async function measureWal({ pool }: Connection, from: string, to: string, reads: boolean): Promise<Wal> {
  const difference = await pool.query<{ bytes: number }>('select pg_wal_lsn_diff($2, $1)::float8 as bytes', [from, to]);
  const bytes = difference.rows[0]?.bytes ?? Number.NaN;
  if (!reads) return { bytes, fullPageBytes: undefined };
  try {
    const { rows } = await pool.query<{ bytes: number }>(
      'select sum(fpi_size)::float8 as bytes from pg_get_wal_stats($1, $2)',
      [from, to],
    );
    return { bytes, fullPageBytes: rows[0]?.bytes };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_FILE)
      return { bytes, fullPageBytes: undefined };
    throw error;
  }
}

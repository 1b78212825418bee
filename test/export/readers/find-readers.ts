/** The packages of this folder, as far as tests use them: they may not be there, so their own types cannot be relied on. */

interface DuckDbResult {
  getRows: () => unknown[][];
}

interface DuckDbConnection {
  run: (sql: string) => Promise<unknown>;
  runAndReadAll: (sql: string) => Promise<DuckDbResult>;
}

interface DuckDbInstance {
  connect: () => Promise<DuckDbConnection>;
  closeSync: () => void;
}

export interface Readers {
  duckDb: { DuckDBInstance: { create: (path: string, options: Record<string, string>) => Promise<DuckDbInstance> } };
  clickHouse: { query: (sql: string, format: string) => string };
}

/** @returns undefined while they are not installed */
export async function findReaders(): Promise<Readers | undefined> {
  const [duckDb, clickHouse] = ['@duckdb/node-api', 'chdb'] as [string, string];
  try {
    return {
      duckDb: (await import(duckDb)) as Readers['duckDb'],
      clickHouse: (await import(clickHouse)) as Readers['clickHouse'],
    };
  } catch {
    return undefined;
  }
}

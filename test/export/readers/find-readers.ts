/** The used part of the packages in this folder. They are optional, so their own types may be missing. */

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

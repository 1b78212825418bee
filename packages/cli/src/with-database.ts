// The database that a command works on, while it works.

import { checkSchema, type Connection, connect, type ConnectOptions } from '@kasgres/database';
import { getDatabaseUrl } from './addresses.ts';
import { readCliEnv } from './env.ts';

/**
 * Connects as `kasgres COMMAND` to the database of the environment, or to the one that `start` wrote down, and closes the connection in
 * any case.
 * @throws {FatalError} when neither says which, or it has not the schema of this program
 */
export async function withDatabase<Result>(
  command: string,
  work: (database: Connection, url: string) => Promise<Result>,
  options: Partial<ConnectOptions> = {},
): Promise<Result> {
  const url = options.url ?? (await getDatabaseUrl(readCliEnv()));
  const database = connect({ max: 1, applicationName: `kasgres ${command}`, ...options, url });
  try {
    await checkSchema(database.pool);
    return await work(database, url);
  } finally {
    await database.close();
  }
}

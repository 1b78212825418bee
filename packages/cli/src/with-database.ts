/** The database connection of a command. */
import { checkSchema, type Connection, connect, type ConnectOptions } from '@kasgres/database';
import { type DatabaseAddress, getDatabase } from './addresses.ts';
import { describeDatabaseProblem, nameOfDatabase } from './error-message.ts';
import { dataDirAt } from './data-dir.ts';
import { readCliEnv } from './env.ts';
import { isLockHeld } from './start/lock.ts';

/**
 * Connects as `kasgres COMMAND` to the database of the environment, or of the last `start`, and closes the connection in any case. Prints
 * the address on a terminal.
 * @throws {FatalError} if no database is named, it cannot be reached, or its schema does not fit this program
 */
export async function withDatabase<Result>(
  command: string,
  work: (database: Connection, url: string) => Promise<Result>,
  options: Partial<ConnectOptions> = {},
): Promise<Result> {
  const address = options.url === undefined ? await getDatabase(readCliEnv()) : undefined;
  const url = options.url ?? (address as DatabaseAddress).url;
  if (address !== undefined && process.stderr.isTTY) process.stderr.write(`Database: ${nameOfDatabase(url)}\n`);
  return await withDatabaseAt({ url, startedOn: address?.startedOn }, command, work, options);
}

export async function withDatabaseAt<Result>(
  { url, startedOn }: DatabaseAddress,
  command: string,
  work: (database: Connection, url: string) => Promise<Result>,
  options: Partial<ConnectOptions> = {},
): Promise<Result> {
  const database = connect({ max: 1, applicationName: `kasgres ${command}`, ...options, url });
  try {
    try {
      await checkSchema(database.pool);
    } catch (error) {
      throw describeDatabaseProblem(url, error, await describeOrigin(startedOn));
    }
    return await work(database, url);
  } finally {
    await database.close();
  }
}

/** Explains an address that the user did not set: its embedded Postgres may have stopped with `start`. */
async function describeOrigin(startedOn: string | undefined): Promise<string> {
  if (startedOn === undefined) return '';
  const isRunning = await isLockHeld(dataDirAt(startedOn).lockFile);
  const state = isRunning ? 'is running' : 'is not running: start it (npm start)';
  return `It is the database of the Kasgres on ${startedOn}, which ${state}. Set DATABASE_URL to use another database.`;
}

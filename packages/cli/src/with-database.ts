/** The database that a command works on, while it works. */
import { checkSchema, type Connection, connect, type ConnectOptions } from '@kasgres/database';
import { type DatabaseAddress, getDatabase } from './addresses.ts';
import { describeDatabaseProblem, nameOfDatabase } from './error-message.ts';
import { dataDirAt } from './data-dir.ts';
import { readCliEnv } from './env.ts';
import { isLockHeld } from './start/lock.ts';

/**
 * Connects as `kasgres COMMAND` to the database of the environment, or to the one that `start` wrote down, and closes the connection in
 * any case. At a terminal it says which one that is.
 * @throws {FatalError} when neither says which, it cannot be reached, or it has not the schema of this program
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

/** The same on a database that is known. */
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
      throw describeDatabaseProblem(url, error, await whereFrom(startedOn));
    }
    return await work(database, url);
  } finally {
    await database.close();
  }
}

/** What to say of an address that nobody has named: its database may have ended with the start that brought it. */
async function whereFrom(startedOn: string | undefined): Promise<string> {
  if (startedOn === undefined) return '';
  const isRunning = await isLockHeld(dataDirAt(startedOn).lockFile);
  const state = isRunning ? 'is running' : 'is not running: start it (npm start)';
  return `It is the database of the Kasgres started on ${startedOn}, which ${state}. DATABASE_URL names another.`;
}

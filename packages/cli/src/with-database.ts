/** The database connection of a command. */
import { ASK_AFTER_SILENCE_MS, checkSchema, type Connection, connect, type ConnectOptions } from '@kasgres/database';
import { isLockHeld } from '@kasgres/runtime';
import { type DatabaseAddress, getDatabase } from './addresses.ts';
import { printMessage } from './command-line.ts';
import { dataDirAt } from './data-dir.ts';
import { readCliEnv } from './env.ts';
import { describeDatabaseProblem, nameOfDatabase } from './error-message.ts';

interface Options extends Partial<Omit<ConnectOptions, 'url'>> {
  /** By default that of the environment, or of the last `start`, which is printed on a terminal. */
  address?: DatabaseAddress;
}

/**
 * Connects as `kasgres COMMAND` to a database, and closes the connection in any case.
 * @throws {FatalError} if no database is named, it cannot be reached, or its schema does not fit
 * this program
 */
export async function withDatabase<Result>(
  command: string,
  work: (database: Connection, url: string) => Promise<Result>,
  { address, ...options }: Options = {},
): Promise<Result> {
  const { url, startedOn } = address ?? (await getDatabase(readCliEnv()));
  if (address === undefined && process.stderr.isTTY) printMessage(`Database: ${nameOfDatabase(url)}`);
  const database = connect({
    max: 1,
    applicationName: `kasgres ${command}`,
    askAfterSilenceMs: ASK_AFTER_SILENCE_MS,
    ...options,
    url,
  });
  try {
    try {
      await checkSchema(database.pool);
    } catch (error) {
      throw describeDatabaseProblem(url, error, startedOn && (await describeOrigin(startedOn)));
    }
    return await work(database, url);
  } finally {
    await database.close();
  }
}

/**
 * Explains an address that the user did not set: its embedded Postgres may have stopped with
 * `start`.
 */
async function describeOrigin(startedOn: string): Promise<string> {
  const isRunning = await isLockHeld(dataDirAt(startedOn).lockFile);
  const state = isRunning ? 'is running' : 'is not running: start it (kasgres start)';
  return `It is the database of the Kasgres on ${startedOn}, which ${state}. Set DATABASE_URL to use another database.`;
}

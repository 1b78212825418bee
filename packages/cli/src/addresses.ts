/**
 * The database, node and API that a command uses: those of the environment, else those that `start`
 * wrote into DATA_DIR, else the defaults. Addresses of two instances are never mixed.
 */
import { FatalError, findValue, isLockHeld, readEnv } from '@kasgres/runtime';
import { apiUrlOf } from './api-status.ts';
import { dataDirAt, findRuntimeFile } from './data-dir.ts';
import { type CliEnv, cliEnvSchema } from './env.ts';

export interface DatabaseAddress {
  url: string;
  /** The DATA_DIR whose `start` wrote the address; undefined if DATABASE_URL names it. */
  startedOn?: string;
}

/** @throws {FatalError} if neither the environment nor DATA_DIR names a database */
export async function getDatabase(env: CliEnv): Promise<DatabaseAddress> {
  if (env.DATABASE_URL !== undefined) return { url: env.DATABASE_URL };
  const dataDir = dataDirAt(env.DATA_DIR);
  const url = (await findRuntimeFile(dataDir))?.databaseUrl;
  if (url !== undefined) return { url, startedOn: dataDir.path };
  throw nothingStarted('DATABASE_URL is not set', dataDir.path);
}

function nothingStarted(reason: string, path: string): FatalError {
  return new FatalError(
    `${reason}, and no Kasgres was started on ${path}. Start one (kasgres start), set DATA_DIR to where one was started, or set ` +
      'DATABASE_URL, such as postgres://user:password@host/database.',
  );
}

/**
 * Returns NODE_URL and DATABASE_URL of a start for a program, which reports missing and wrong
 * variables itself, all at once. If one of them is set, the other does not come from a start: the
 * node of a demo must not fill the database of an operator.
 */
export async function findUrlVariables(): Promise<Record<string, string>> {
  if (isSet('NODE_URL') || isSet('DATABASE_URL')) return {};
  const { DATA_DIR } = readEnv(cliEnvSchema.pick({ DATA_DIR: true }), process.env);
  const written = await findRuntimeFile(dataDirAt(DATA_DIR));
  return written === undefined ? {} : { NODE_URL: written.nodeUrl, DATABASE_URL: written.databaseUrl };
}

/** The addresses for `kasgres status`: at least one is defined. */
export interface StatusAddresses {
  apiUrl?: string | undefined;
  database?: DatabaseAddress | undefined;
  /**
   * The status comes from the API; otherwise from the database, and only says whether the API
   * responds.
   */
  isApiFirst: boolean;
}

/** @throws {FatalError} if DATA_DIR is set and nothing was started there */
export async function getStatusAddresses(env: CliEnv): Promise<StatusAddresses> {
  const namedApi = isSet('HOST') || isSet('PORT') ? apiUrlOf(env.HOST, env.PORT) : undefined;
  if (env.DATABASE_URL !== undefined) {
    return { apiUrl: namedApi, database: { url: env.DATABASE_URL }, isApiFirst: false };
  }
  const dataDir = dataDirAt(env.DATA_DIR);
  const written = await findRuntimeFile(dataDir);
  const database = written && { url: written.databaseUrl, startedOn: dataDir.path };
  if (namedApi !== undefined) {
    return { apiUrl: namedApi, database: written?.apiUrl === namedApi ? database : undefined, isApiFirst: true };
  }
  if (written !== undefined) {
    // After that start has stopped, any program at its port is another one.
    const isRunning = await isLockHeld(dataDir.lockFile);
    return { apiUrl: isRunning ? written.apiUrl : undefined, database, isApiFirst: isRunning };
  }
  if (isSet('DATA_DIR')) throw nothingStarted('Neither DATABASE_URL nor PORT is set', dataDir.path);
  return { apiUrl: apiUrlOf(env.HOST, env.PORT), isApiFirst: true };
}

const isSet = (name: string): boolean => findValue(process.env, name) !== undefined;

// Which database, node and API a command speaks to: what the environment names, else what `start` wrote down.

import { FatalError } from '@kasgres/runtime';
import { apiUrlOf } from './api-status.ts';
import { dataDirAt } from './data-dir.ts';
import type { CliEnv } from './env.ts';
import { findRuntimeFile } from './runtime-file.ts';

/** @throws {FatalError} when neither says */
export async function getDatabaseUrl(env: CliEnv): Promise<string> {
  const url = env.DATABASE_URL ?? (await findRuntimeFile(dataDirAt(env.DATA_DIR)))?.databaseUrl;
  if (url !== undefined) return url;
  throw new FatalError(
    `DATABASE_URL is not set, and no Kasgres was started on ${dataDirAt(env.DATA_DIR).path}. Start one (npm start), set ` +
      'DATA_DIR to where one was started, or set DATABASE_URL, such as postgres://user:password@host/database.',
  );
}

/** The variables of both, as far as they are known: a program says itself what it cannot do without. */
export async function findUrlVariables(env: CliEnv): Promise<Record<string, string>> {
  const written = await findRuntimeFile(dataDirAt(env.DATA_DIR));
  const nodeUrl = env.NODE_URL ?? written?.nodeUrl;
  const databaseUrl = env.DATABASE_URL ?? written?.databaseUrl;
  return {
    ...(nodeUrl !== undefined && { NODE_URL: nodeUrl }),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

/** The API that `start` wrote down, unless HOST or PORT name another. */
export async function getApiUrl(env: CliEnv): Promise<string> {
  const isNamed = process.env['HOST'] !== undefined || process.env['PORT'] !== undefined;
  const written = isNamed ? undefined : (await findRuntimeFile(dataDirAt(env.DATA_DIR)))?.apiUrl;
  return written ?? apiUrlOf(env.HOST, env.PORT);
}

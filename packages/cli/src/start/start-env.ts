/** The environment of `kasgres start`, and that of the programs that it starts. */
import { EnvError } from '@kasgres/runtime';
import { type CliEnv, readCliEnv } from '../env.ts';
import { findEnvironmentProblems } from '../programs.ts';

/** Variables that `start` checks itself and gives the programs; an empty one counts as unset. */
const GIVEN = {
  NODE_URL: 'grpc://127.0.0.1:1',
  DATABASE_URL: 'postgres://127.0.0.1/given',
  LOG_LEVEL: '',
  HOST: '',
  PORT: '',
  METRICS_PORT: '',
  API_WORKERS: '',
  TLS_CERT_FILE: '',
  TLS_KEY_FILE: '',
};

/** @throws {EnvError} that names every wrong variable, before anything is started or written */
export async function readStartEnv(): Promise<CliEnv> {
  const ofPrograms = await findEnvironmentProblems(GIVEN);
  try {
    const env = readCliEnv();
    if (ofPrograms.length > 0) throw new EnvError([]);
    return env;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    // The programs share some variables, whose problems have the same text.
    throw new EnvError([...new Set([...error.problems, ...ofPrograms])]);
  }
}

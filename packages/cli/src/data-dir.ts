// What lies where in DATA_DIR. The folder may be entered by others (an embedded Postgres under another user lives in it);
// what is secret in it has mode 0600.

import { access, constants, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FatalError } from '@kasgres/runtime';

export interface DataDir {
  path: string;
  /** JSON lines of the programs, one file each. */
  logs: string;
  /** The embedded Postgres, with its own log. */
  postgres: string;
  /** State of the simulated node. */
  node: string;
  /** Both URLs and the running processes (runtime-file.ts). */
  runtimeFile: string;
  /** The demo's API key, readable. */
  demoKeyFile: string;
  /** Databases that were unused before (start/own-databases.ts). */
  ownDatabasesFile: string;
  lockFile: string;
}

export function dataDirAt(path: string): DataDir {
  const root = resolve(path);
  return {
    path: root,
    logs: join(root, 'logs'),
    postgres: join(root, 'postgres'),
    node: join(root, 'node'),
    runtimeFile: join(root, 'runtime.json'),
    demoKeyFile: join(root, 'demo-key'),
    ownDatabasesFile: join(root, 'own-databases.json'),
    lockFile: join(root, 'lock'),
  };
}

/** Makes the folders that are missing; fails in words where this user may not. */
export async function makeDataDir(path: string): Promise<DataDir> {
  const dataDir = dataDirAt(path);
  try {
    await mkdir(dataDir.logs, { recursive: true });
    await access(dataDir.path, constants.W_OK);
  } catch (error) {
    throw new FatalError(
      `Cannot write to ${dataDir.path} (${(error as Error).message}). Set DATA_DIR to a folder of yours.`,
    );
  }
  return dataDir;
}

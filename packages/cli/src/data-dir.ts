/**
 * The files in DATA_DIR. Other users may enter the folder, since an embedded Postgres may run as
 * another user in it. Files that hold a secret have mode 0600.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { access, constants, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DatabaseState } from '@kasgres/database';
import { FatalError, makeFolder } from '@kasgres/runtime';
import { z } from 'zod';

export type DataDir = ReturnType<typeof dataDirAt>;

export function dataDirAt(path: string) {
  const root = resolve(path);
  return {
    path: root,
    /** JSON lines of the programs, one file each. */
    logs: join(root, 'logs'),
    postgres: join(root, 'postgres'),
    /** State of the simulated node. */
    node: join(root, 'node'),
    runtimeFile: join(root, 'runtime.json'),
    demoKeyFile: join(root, 'demo-key'),
    ownDatabasesFile: join(root, 'own-databases.json'),
    lockFile: join(root, 'lock'),
  };
}

/** Creates missing folders. @throws {FatalError} if this user may not write there */
export async function makeDataDir(path: string): Promise<DataDir> {
  const dataDir = dataDirAt(path);
  try {
    await makeFolder(dataDir.logs);
    await access(dataDir.path, constants.W_OK);
  } catch (error) {
    throw new FatalError(
      `Cannot write to ${dataDir.path} (${(error as Error).message}). Set DATA_DIR to a folder of yours.`,
    );
  }
  return dataDir;
}

/** Replaces a file in one step, with mode 0600. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function writePrivateJson(path: string, content: unknown): void {
  writePrivateFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

async function findJson<Content>(path: string, schema: z.ZodType<Content>): Promise<Content | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}

const runtimeFile = z.object({
  nodeUrl: z.string(),
  /** With the password. */
  databaseUrl: z.string(),
  apiUrl: z.string(),
  /** The running programs. A start after a crash waits until they have stopped. */
  processIds: z.array(z.number().int()),
});

/** Writes the addresses for other commands and the next start. */
export function writeRuntimeFile(dataDir: DataDir, content: z.infer<typeof runtimeFile>): void {
  writePrivateJson(dataDir.runtimeFile, content);
}

export async function findRuntimeFile(dataDir: DataDir): Promise<z.infer<typeof runtimeFile> | undefined> {
  return await findJson(dataDir.runtimeFile, runtimeFile);
}

const ownDatabasesFile = z.object({ ids: z.array(z.string()) });

/**
 * Returns whether a database was unused before this DATA_DIR: `start` makes keys and tags in no
 * other one. A database that is unused now is remembered by its id.
 */
export async function isOwnDatabase(dataDir: DataDir, { id, isUnused }: DatabaseState): Promise<boolean> {
  const ids = (await findJson(dataDir.ownDatabasesFile, ownDatabasesFile))?.ids ?? [];
  if (isUnused && !ids.includes(id)) writePrivateJson(dataDir.ownDatabasesFile, { ids: [...ids, id] });
  return isUnused || ids.includes(id);
}

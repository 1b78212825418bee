/**
 * The files in DATA_DIR. Other users may enter the folder, since an embedded Postgres may run as another user in it. Files that hold a
 * secret have mode 0600.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { access, constants, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FatalError } from '@kasgres/runtime';
import { z } from 'zod';

export interface DataDir {
  path: string;
  /** JSON lines of the programs, one file each. */
  logs: string;
  /** The embedded Postgres, with its own log. */
  postgres: string;
  /** State of the simulated node. */
  node: string;
  runtimeFile: string;
  /** The API key of the demo, readable. */
  demoKeyFile: string;
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

/** Creates missing folders. @throws {FatalError} if this user may not write there */
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

/** Replaces a file in one step, with mode 0600. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function writePrivateJson(path: string, content: unknown): void {
  writePrivateFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Returns undefined if the file is missing or has another form. */
async function findJson<Content>(path: string, schema: z.ZodType<Content>): Promise<Content | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}

const runtimeFile = z.object({
  nodeUrl: z.string(),
  databaseUrl: z.string(),
  apiUrl: z.string(),
  /** The running programs. A start after a crash waits until they have stopped. */
  processIds: z.array(z.number().int()),
});
type RuntimeFile = z.infer<typeof runtimeFile>;

/** Writes what other commands and the next start read. It holds the password of the database. */
export function writeRuntimeFile(dataDir: DataDir, content: RuntimeFile): void {
  writePrivateJson(dataDir.runtimeFile, content);
}

/** Returns what the last start wrote. */
export async function findRuntimeFile(dataDir: DataDir): Promise<RuntimeFile | undefined> {
  return await findJson(dataDir.runtimeFile, runtimeFile);
}

/** The ids (`DatabaseState.id`) of databases that were unused before this DATA_DIR. `start` makes keys and tags in no other database. */
const ownDatabasesFile = z.object({ ids: z.array(z.string()) });

export async function isOwnDatabase(dataDir: DataDir, id: string): Promise<boolean> {
  return (await readOwnIds(dataDir)).includes(id);
}

export async function rememberOwnDatabase(dataDir: DataDir, id: string): Promise<void> {
  const ids = await readOwnIds(dataDir);
  if (!ids.includes(id)) writePrivateJson(dataDir.ownDatabasesFile, { ids: [...ids, id] });
}

async function readOwnIds(dataDir: DataDir): Promise<string[]> {
  return (await findJson(dataDir.ownDatabasesFile, ownDatabasesFile))?.ids ?? [];
}

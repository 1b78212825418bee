// DATA_DIR/own-databases.json: the databases that nobody had used before this DATA_DIR did. Only in these a start makes a key and tags: in
// any other they would be another one's.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { DataDir } from '../data-dir.ts';
import { writePrivateFile } from '../private-file.ts';

const ownDatabasesFile = z.object({
  /** As `DatabaseState.id`. */
  ids: z.array(z.string()),
});

export async function isOwnDatabase(dataDir: DataDir, id: string): Promise<boolean> {
  return (await readIds(dataDir)).includes(id);
}

export async function rememberOwnDatabase(dataDir: DataDir, id: string): Promise<void> {
  const ids = await readIds(dataDir);
  if (ids.includes(id)) return;
  writePrivateFile(dataDir.ownDatabasesFile, `${JSON.stringify({ ids: [...ids, id] }, null, 2)}\n`);
}

async function readIds(dataDir: DataDir): Promise<string[]> {
  try {
    return ownDatabasesFile.parse(JSON.parse(await readFile(dataDir.ownDatabasesFile, 'utf8'))).ids;
  } catch {
    return [];
  }
}

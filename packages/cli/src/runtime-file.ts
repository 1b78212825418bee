// DATA_DIR/runtime.json: what `start` tells the other commands, and the next start. It holds the database's password.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { DataDir } from './data-dir.ts';
import { writePrivateFile } from './private-file.ts';

const runtimeFile = z.object({
  nodeUrl: z.string(),
  databaseUrl: z.string(),
  apiUrl: z.string(),
  /** Programs that run now: a start after a crash waits for them to end. */
  processIds: z.array(z.number().int()),
});

type RuntimeFile = z.infer<typeof runtimeFile>;

export function writeRuntimeFile(dataDir: DataDir, content: RuntimeFile): void {
  writePrivateFile(dataDir.runtimeFile, `${JSON.stringify(content, null, 2)}\n`);
}

/** What the last start wrote; undefined where there was none, or what is there cannot be used. */
export async function findRuntimeFile(dataDir: DataDir): Promise<RuntimeFile | undefined> {
  let text: string;
  try {
    text = await readFile(dataDir.runtimeFile, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return runtimeFile.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

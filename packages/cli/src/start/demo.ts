// The demo's own things: a key that a person finds again at every start, and the tags that the simulated node gives some of
// its addresses.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Connection,
  createKey,
  findKey,
  hashKey,
  replaceSources,
  type Tag,
  type TagSource,
  toAttribution,
} from '@kasgres/database';
import { z } from 'zod';
import type { DataDir } from '../data-dir.ts';
import { writePrivateFile } from '../private-file.ts';
import { withDatabase } from '../with-database.ts';

const demoFile = z.object({
  tags: z.array(z.object({ address: z.string(), name: z.string(), link: z.string(), labels: z.array(z.string()) })),
});

export interface Demo {
  tags: Tag[];
}

/** What the simulated node wrote about its chain. */
export async function readDemo(dataDir: DataDir): Promise<Demo> {
  return demoFile.parse(JSON.parse(await readFile(join(dataDir.node, 'demo.json'), 'utf8')));
}

/**
 * Writes the demo's tags and returns its key: the one in DATA_DIR/demo-key while it is in force in this database, else a new
 * one, which is then kept there.
 */
export async function prepareDatabase(databaseUrl: string, dataDir: DataDir, demo: Demo | undefined): Promise<string> {
  const prepare = async ({ pool, kysely }: Connection): Promise<string> => {
    if (demo !== undefined) await replaceSources(pool, [sourceOf(demo)]);
    const kept = await findKeptKey(dataDir);
    if (kept !== undefined && (await findKey(kysely, hashKey(kept))) !== undefined) return kept;
    const { key } = await createKey(kysely, { name: 'demo' });
    writePrivateFile(dataDir.demoKeyFile, `${key}\n`);
    return key;
  };
  return await withDatabase('start', prepare, { url: databaseUrl });
}

function sourceOf({ tags }: Demo): TagSource {
  return { name: 'demo', title: 'The simulated chain', creator: 'kasgres', attributions: tags.map(toAttribution) };
}

async function findKeptKey(dataDir: DataDir): Promise<string | undefined> {
  try {
    return (await readFile(dataDir.demoKeyFile, 'utf8')).trim();
  } catch {
    return undefined;
  }
}

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

interface PrepareOptions {
  dataDir: DataDir;
  demo: Demo | undefined;
  /** Nobody used the database before this DATA_DIR: a key and tags can be written to it. */
  isOwn: boolean;
}

/**
 * Returns the key in DATA_DIR/demo-key while it is in force in this database. In a database of our own it writes the demo's tags, and
 * replaces a key that is not in force any longer.
 */
export async function prepareDatabase(
  databaseUrl: string,
  { dataDir, demo, isOwn }: PrepareOptions,
): Promise<string | undefined> {
  const prepare = async ({ pool, kysely }: Connection): Promise<string | undefined> => {
    const kept = await findKeptKey(dataDir);
    const isInForce = kept !== undefined && (await findKey(kysely, hashKey(kept))) !== undefined;
    // A start of an earlier version made the key, and took no note of the database.
    if (!isOwn && !isInForce) return undefined;
    if (demo !== undefined) await replaceSources(pool, [sourceOf(demo)]);
    if (isInForce) return kept;
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

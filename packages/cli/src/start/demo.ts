/**
 * The simulated node of the demo, the tags that it gives some of its addresses, and an API key that
 * stays the same at every start.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, createKey, findKey, hashKey, replaceSources, toAttribution } from '@kasgres/database';
import { untilAborted } from '@kasgres/runtime';
import { z } from 'zod';
import { type DataDir, writePrivateFile } from '../data-dir.ts';
import { programPaths } from '../programs.ts';
import { withDatabase } from '../with-database.ts';
import type { Supervisor } from './supervisor.ts';

const announcement = z.object({ url: z.string() });

const demoFile = z.object({
  tags: z.array(z.object({ address: z.string(), name: z.string(), link: z.string(), labels: z.array(z.string()) })),
});

export type Demo = z.infer<typeof demoFile>;

export async function readDemo(dataDir: DataDir): Promise<Demo> {
  return demoFile.parse(JSON.parse(await readFile(join(dataDir.node, 'demo.json'), 'utf8')));
}

/**
 * Returns the key in DATA_DIR/demo-key if it is valid in this database. To an own database, which
 * was unused before this DATA_DIR, it writes the demo's tags, and a new key if the old one is no
 * longer valid.
 */
export async function prepareDatabase(
  databaseUrl: string,
  { dataDir, demo, isOwn }: { dataDir: DataDir; demo: Demo | undefined; isOwn: boolean },
): Promise<string | undefined> {
  const prepare = async ({ pool, kysely }: Connection): Promise<string | undefined> => {
    const stored = (await readFile(dataDir.demoKeyFile, 'utf8').catch(() => undefined))?.trim();
    const isValid = stored !== undefined && (await findKey(kysely, hashKey(stored))) !== undefined;
    if (!isOwn && !isValid) return undefined;
    if (demo !== undefined) {
      const attributions = demo.tags.map(toAttribution);
      await replaceSources(pool, [{ name: 'demo', title: 'The simulated chain', creator: 'kasgres', attributions }]);
    }
    if (isValid) return stored;
    const { key } = await createKey(kysely, { name: 'demo' });
    writePrivateFile(dataDir.demoKeyFile, `${key}\n`);
    return key;
  };
  return await withDatabase('start', prepare, { address: { url: databaseUrl } });
}

interface SimulatedNodeOptions {
  /**
   * Called when the node announces its URL. At a restart it is the same, unless another program has
   * taken the port.
   */
  onUrl: (url: string) => void;
  signal: AbortSignal;
}

/** Starts the simulated node and waits until it announces its URL. */
export async function startSimulatedNode(
  supervisor: Supervisor,
  dataDir: DataDir,
  { onUrl, signal }: SimulatedNodeOptions,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let port = '0';
  supervisor.start({
    name: 'node',
    path: programPaths.simulatedNode,
    env: () => {
      const env = { DATA_DIR: dataDir.node, PORT: port };
      // A process that announces nothing, as when its port is taken, is followed by one that
      // chooses a port.
      port = '0';
      return env;
    },
    onLine: (line) => {
      if (!line.startsWith('{"url"')) return;
      const parsed = announcement.safeParse(JSON.parse(line));
      if (!parsed.success) return;
      const { url } = parsed.data;
      ({ port } = new URL(url));
      onUrl(url);
      resolve(url);
    },
  });
  await Promise.race([promise, untilAborted(signal)]);
  signal.throwIfAborted();
  return promise;
}

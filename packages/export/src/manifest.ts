/**
 * DIRECTORY/manifest.json lists what was exported, and how far. A file gets its name after the
 * manifest lists it, and is deleted after the manifest has dropped it. So `settle` can repair the
 * directory after an export that died at any moment.
 */
import { readdirSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FatalError } from '@kasgres/runtime';
import { z } from 'zod';
import { DRAFT_SUFFIX } from './part-file.ts';

const FORM = 1;
const MANIFEST = 'manifest.json';
export const LOCK = 'lock';

const position = z.object({ index: z.number().int(), hash: z.string() });
const columns = z.record(z.string(), z.string());

const part = z.object({
  path: z.string(),
  day: z.string(),
  /** chain_blocks.index of the first and the last chain block whose rows it contains. */
  first: z.number().int(),
  last: z.number().int(),
  lastHash: z.string(),
  rows: z.number().int(),
  bytes: z.number().int(),
});

const fact = z.object({
  columns,
  /** The first and the last exported chain block: the files contain everything between. */
  first: position,
  last: position.nullable(),
  files: z.array(part),
});

const snapshot = z.object({
  path: z.string(),
  sink: z.string(),
  blueScore: z.number().int(),
  takenAt: z.string(),
  rows: z.number().int(),
  bytes: z.number().int(),
});

const manifest = z.object({
  form: z.literal(FORM),
  network: z.string(),
  /** Creation time of the database: distinguishes a reorg from another database. */
  database: z.string(),
  raw: z.boolean(),
  facts: z.record(z.string(), fact),
  states: z.record(z.string(), z.object({ columns, snapshots: z.array(snapshot) })),
});

export type Manifest = z.infer<typeof manifest>;
export type FactFiles = z.infer<typeof fact>;
export type Part = z.infer<typeof part>;

export function emptyManifest(about: Pick<Manifest, 'network' | 'database' | 'raw'>): Manifest {
  return { form: FORM, ...about, facts: {}, states: {} };
}

/** @throws {FatalError} if the directory contains other files, or a manifest of another version */
export async function findManifest(directory: string): Promise<Manifest | undefined> {
  const path = join(directory, MANIFEST);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await refuseOthers(directory);
    return undefined;
  }
  try {
    return manifest.parse(JSON.parse(text));
  } catch {
    throw new FatalError(
      `${path} is not the manifest of an export of this version (form ${FORM}). Export into another directory, or use the ` +
        'version of Kasgres that wrote it.',
    );
  }
}

/**
 * Without a manifest the directory must be empty, so that exported files are never mixed with
 * others.
 */
async function refuseOthers(directory: string): Promise<void> {
  const others = (await readdir(directory)).filter(
    (name) => !name.startsWith(LOCK) && name !== MANIFEST + DRAFT_SUFFIX,
  );
  if (others.length === 0) return;
  throw new FatalError(
    `${directory} is not empty and has no ${MANIFEST}, so it is not the directory of an export (it contains ` +
      `${others.slice(0, 3).join(', ')}). Name a new or an empty directory.`,
  );
}

/** Replaces the manifest in one step and syncs it to the disk. */
export async function writeManifest(directory: string, content: Manifest): Promise<void> {
  const path = join(directory, MANIFEST);
  const draft = path + DRAFT_SUFFIX;
  await writeFile(draft, `${JSON.stringify(content, null, 1)}\n`, { flush: true });
  await rename(draft, path);
  await syncFolder(directory);
}

export async function giveName(path: string): Promise<void> {
  await rename(path + DRAFT_SUFFIX, path);
  await syncFolder(dirname(path));
}

/**
 * Repairs the directory after an export that died: names drafts that the manifest lists, and
 * deletes and returns other drafts and files.
 */
export async function settle(directory: string, content: Manifest): Promise<string[]> {
  const files = Object.values(content.facts).flatMap(({ files }) => files);
  const snapshots = Object.values(content.states).flatMap(({ snapshots }) => snapshots);
  const known = new Set([...files, ...snapshots].map(({ path }) => path));
  const gone: string[] = [];
  await rm(join(directory, MANIFEST + DRAFT_SUFFIX), { force: true });
  for (const path of listParquet(directory)) {
    if (known.has(path)) continue;
    const name = path.endsWith(DRAFT_SUFFIX) ? path.slice(0, -DRAFT_SUFFIX.length) : path;
    if (known.has(name)) {
      await giveName(join(directory, name));
      continue;
    }
    await rm(join(directory, path));
    gone.push(path);
  }
  return gone;
}

/** Lists exported files by the form of their names: VIEW/day=…/… and VIEW/snapshot=…/…. */
function listParquet(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^\w+\/(day|snapshot)=[^/]+\/[\w-]+\.parquet(\.tmp)?$/.test(path));
}

/** Makes a rename in the folder survive a power loss. Windows has no such call. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

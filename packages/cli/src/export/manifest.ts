/**
 * DIRECTORY/manifest.json: what was exported, and how far. It is what counts: a file gets its name after the manifest knows it, and loses
 * it after the manifest has forgotten it. So whatever moment an export dies at, `settle` brings the directory in step with it.
 */
import { readdirSync } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
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
  /** Below the directory. */
  path: z.string(),
  day: z.string(),
  /** chain_blocks.index of the first and the last chain block whose rows it holds. */
  first: z.number().int(),
  last: z.number().int(),
  /** Of the last one. */
  lastHash: z.string(),
  rows: z.number().int(),
  bytes: z.number().int(),
});

const fact = z.object({
  columns,
  /** The first chain block of the export, and the last so far: all between is in the files. */
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
  /** When the database was made: tells a reorganisation from another database. */
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

/** @throws {FatalError} when what is there is none of ours */
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
      `${path} is not the manifest of an export of this version (form ${FORM}). Export into another directory, or go on with the ` +
        'version of Kasgres that wrote it.',
    );
  }
}

/** Without a manifest the directory must be empty: nobody else's files are to lie between ours. */
async function refuseOthers(directory: string): Promise<void> {
  const others = (await readdir(directory)).filter(
    (name) => !name.startsWith(LOCK) && name !== MANIFEST + DRAFT_SUFFIX,
  );
  if (others.length === 0) return;
  throw new FatalError(
    `${directory} is not empty and has no ${MANIFEST}, so nothing was exported there that could be gone on with (there is ` +
      `${others.slice(0, 3).join(', ')}). Name a new or an empty directory.`,
  );
}

/** Replaces the manifest in one step, and brings it to the disk. */
export async function writeManifest(directory: string, content: Manifest): Promise<void> {
  const path = join(directory, MANIFEST);
  const draft = path + DRAFT_SUFFIX;
  const file = await open(draft, 'w');
  try {
    await file.writeFile(`${JSON.stringify(content, null, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(directory);
}

/** Gives a file that the manifest knows its name. */
export async function giveName(path: string): Promise<void> {
  await rename(path + DRAFT_SUFFIX, path);
  await syncFolder(dirname(path));
}

/**
 * After an export that died: drafts that the manifest knows get their names, other drafts go, and so do files that it has forgotten.
 * @returns what went
 */
export async function settle(directory: string, content: Manifest): Promise<string[]> {
  const known = new Set(
    [
      ...Object.values(content.facts).flatMap(({ files }) => files),
      ...Object.values(content.states).flatMap(({ snapshots }) => snapshots),
    ].map(({ path }) => path),
  );
  const gone: string[] = [];
  await rm(join(directory, MANIFEST + DRAFT_SUFFIX), { force: true });
  for (const path of listParquet(directory)) {
    const isDraft = path.endsWith(DRAFT_SUFFIX);
    const name = isDraft ? path.slice(0, -DRAFT_SUFFIX.length) : path;
    if (isDraft && known.has(name)) {
      await giveName(join(directory, name));
    } else if (!known.has(path)) {
      await rm(join(directory, path));
      gone.push(path);
    }
  }
  return gone;
}

/** Our files, by the form of their names: VIEW/day=…/… and VIEW/snapshot=…/…, below the directory. */
function listParquet(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^\w+\/(day|snapshot)=[^/]+\/[\w-]+\.parquet(\.tmp)?$/.test(path));
}

/** So that a name given in it survives the loss of power. Windows has no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

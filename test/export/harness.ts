/**
 * Exports an index under test into a temporary folder, and compares all files with the database.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { EXPORT_CONNECTION, type ExportRequest, type Manifest, planExport, runExport } from '@kasgres/export';
import { expect, onTestFinished } from 'vitest';
import { expectedFacts } from './expected.ts';
import { readWithDuckDb } from './readers/readers.ts';

/** In memory if possible: each file is synced, which takes long on a busy disk. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Removed after the test. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(PLACE, 'kasgres-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Runs an export that must succeed, and returns its output. */
export async function exportTo(
  directory: string,
  database: Pick<TestDatabase, 'url'>,
  { names = [], ...options }: Partial<ExportRequest> = {},
): Promise<{ lines: string[]; manifest: Manifest }> {
  const lines: string[] = [];
  const plan = planExport({ directory, names, ...options });
  const { pool, close } = connect({ url: database.url, applicationName: 'kasgres export', ...EXPORT_CONNECTION });
  try {
    await runExport(pool, plan, (line) => lines.push(line));
  } finally {
    await close();
  }
  return { lines, manifest: await readManifest(directory) };
}

export async function readManifest(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as Manifest;
}

/** Returns all files below the directory. */
export function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/**
 * The files hold each row of each fact up to its last chain block once, under its day, and nothing
 * else lies in the directory. Returns the number of rows.
 */
export async function expectWhole(directory: string, { pool }: TestDatabase): Promise<number> {
  const manifest = await readManifest(directory);
  const schema = manifest.raw ? 'public' : 'kaspa';
  let count = 0;
  for (const [name, { columns, files, last }] of Object.entries(manifest.facts)) {
    const { rows: ends } = await pool.query<{ hash: string }>(
      `select encode(b.hash, 'hex') as hash from chain_blocks c join blocks b on b.id = c.block_id where c.index = $1`,
      [last?.index],
    );
    expect(ends[0]?.hash, `${name}: the last block`).toBe(last?.hash);
    const read =
      files.length === 0 ? [] : await readWithDuckDb(join(directory, name, '*', '*.parquet'), columns, 'day');
    const expected = await expectedFacts(pool, { schema, name, columns, until: last?.index ?? -1 });
    expect(read, name).toEqual(expected);
    expect(
      files.reduce((rows, file) => rows + file.rows, 0),
      `${name}: rows of the manifest`,
    ).toBe(expected.length);
    count += expected.length;
  }
  const known = [
    ...Object.values(manifest.facts).flatMap(({ files }) => files),
    ...Object.values(manifest.states).flatMap(({ snapshots }) => snapshots),
  ].map(({ path }) => path);
  // A process that is killed while it takes the lock leaves a few bytes.
  expect(listFiles(directory).filter((name) => !name.startsWith('lock'))).toEqual([...known, 'manifest.json'].sort());
  return count;
}

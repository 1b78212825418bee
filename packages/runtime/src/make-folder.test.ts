import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('it creates what is missing, several callers at once', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kasgres-folder-'));
  const path = join(root, 'a/b/c');
  await Promise.all([makeFolder(path), makeFolder(path)]);
  expect((await stat(path)).isDirectory()).toBe(true);
  await rm(root, { recursive: true });
});

test('it rejects where a file is in the way', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kasgres-folder-'));
  await writeFile(join(root, 'file'), '');
  await expect(makeFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(root, 'file/b'))).rejects.toThrow(/EEXIST/);
  await rm(root, { recursive: true });
});

test.runIf(process.platform === 'linux')('it rejects where nothing can be created', async () => {
  await expect(makeFolder('/proc/kasgres/data')).rejects.toThrow(/mkdir '\/proc\/kasgres'/);
});

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeLock } from './lock.ts';

let folder: string;
let path: string;
const heldBy = (processId: number): string => `held by ${processId}`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-lock-'));
  path = join(folder, 'lock.json');
});

afterEach(() => rm(folder, { recursive: true }));

test('a second start on the same folder is told who holds it', async () => {
  const lock = await takeLock(path, heldBy);
  await expect(takeLock(path, heldBy)).rejects.toThrow(`held by ${process.pid}`);
  await lock.release();
  await (await takeLock(path, heldBy)).release();
});

test('of many starts at once one gets the lock', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => takeLock(path, heldBy)));
  const held = attempts.filter((attempt) => attempt.status === 'fulfilled');
  expect(held).toHaveLength(1);
  await held[0]?.value.release();
  expect(await readdir(folder)).toEqual([]);
});

test('a lock whose holder is gone is taken over, also when its process id lives on', async () => {
  await writeFile(path, JSON.stringify({ processId: process.pid, port: 1, token: 'gone' }));
  await (await takeLock(path, heldBy)).release();
});

test('a lock that was cut off in the middle is taken over', async () => {
  await writeFile(path, '{"proc');
  await (await takeLock(path, heldBy)).release();
});

test('of many starts on a stale lock one gets it', async () => {
  await writeFile(path, JSON.stringify({ processId: process.pid, port: 1, token: 'gone' }));
  const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => takeLock(path, heldBy)));
  expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
});

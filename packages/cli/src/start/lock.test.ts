import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isLockHeld, takeLock } from './lock.ts';

const MODULE = new URL('lock.ts', import.meta.url).href;

let folder: string;
let path: string;
const heldBy = (processId: number): string => `held by ${processId}`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-lock-'));
  path = join(folder, 'lock');
});

afterEach(() => rm(folder, { recursive: true }));

test('a second start on the same folder fails with the process that holds the lock', async () => {
  expect(await isLockHeld(path)).toBe(false);
  const lock = await takeLock(path, heldBy);
  expect(await isLockHeld(path)).toBe(true);
  await expect(takeLock(path, heldBy)).rejects.toThrow(`held by ${process.pid}`);
  await lock.release();
  expect(await isLockHeld(path)).toBe(false);
  await (await takeLock(path, heldBy)).release();
});

test('one of many simultaneous starts takes the lock', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => takeLock(path, heldBy)));
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a process that is killed releases its lock at once', async () => {
  const source = `
    const { takeLock } = await import(${JSON.stringify(MODULE)});
    await takeLock(${JSON.stringify(path)}, String);
    console.log('taken');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(takeLock(path, heldBy)).rejects.toThrow(`held by ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await takeLock(path, heldBy)).release();
});

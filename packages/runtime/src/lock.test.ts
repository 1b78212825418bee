import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tryFlock } from './flock.ts';
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

async function startHolder(source: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `${source}; setInterval(() => {}, 1000);`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('a process that is killed releases its lock at once', async () => {
  const child = await startHolder(`
    const { takeLock } = await import(${JSON.stringify(MODULE)});
    await takeLock(${JSON.stringify(path)}, String);
    console.log('taken')`);
  await expect(takeLock(path, heldBy)).rejects.toThrow(`held by ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await takeLock(path, heldBy)).release();
});

// The lock of Node 20.
test.skipIf(process.platform !== 'linux')(
  'the command flock holds a lock, also for a process that is killed',
  async () => {
    const attempt = await tryFlock(path);
    expect(await tryFlock(path)).toEqual({ heldBy: process.pid });
    if ('release' in attempt) await attempt.release();
    const child = await startHolder(`
    const { tryFlock } = await import(${JSON.stringify(new URL('flock.ts', import.meta.url).href)});
    await tryFlock(${JSON.stringify(path)});
    console.log('taken')`);
    expect(await tryFlock(path)).toEqual({ heldBy: child.pid });
    child.kill('SIGKILL');
    await expect.poll(async () => 'release' in (await tryFlock(path))).toBe(true);
  },
);

/**
 * The lock of lock.ts for Node 20, which has no SQLite: the command `flock` of util-linux and
 * BusyBox holds it. Programs that run with other versions of Node do not see it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { FatalError } from './run-program.ts';

export interface HeldLock {
  release: () => Promise<void>;
}

export type LockAttempt = HeldLock | { heldBy: number };

const CODE_HELD = 1;

/** @throws {FatalError} if there is no such command */
export async function tryFlock(path: string): Promise<LockAttempt> {
  // `cat` exits with the end of its input, and so with this process, however that ends. A Ctrl-C at
  // the terminal must not end it before.
  const holder = spawn('flock', ['-n', path, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  holder.stdin.on('error', () => undefined);
  holder.stdin.write('\n');
  const exited = once(holder, 'exit') as Promise<[code: number | null]>;
  const locked = once(holder.stdout, 'data').then(() => 'locked' as const);
  const outcome = await Promise.race([locked, exited]).catch((error: unknown): never => {
    throw new FatalError(
      `${path} cannot be locked on Node ${process.versions.node} without the command flock: ${(error as Error).message}. Install util-linux, ` +
        'or use Node 22.13 or newer.',
    );
  });
  if (outcome !== 'locked') {
    if (outcome[0] === CODE_HELD) return { heldBy: Number(await readFile(path, 'utf8')) };
    throw new Error(`flock ${path} failed with code ${outcome[0]}`);
  }
  await writeFile(path, String(process.pid));
  for (const handle of [holder, holder.stdin as Socket, holder.stdout as Socket]) handle.unref();
  const release = async (): Promise<void> => {
    holder.ref();
    holder.stdin.end();
    await exited;
  };
  return { release };
}

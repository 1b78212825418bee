// One start at a time on a DATA_DIR, and one export into a directory. A process id alone cannot tell whether the holder of a lock still lives (ids are given
// again, in a container at once), so the holder listens on a local port and answers with the token that the lock file names.
// A lock whose holder does not answer is stale and is taken over.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { z } from 'zod';
import { FatalError, sleep } from '@kasgres/runtime';

const RESPONSE_WITHIN_MS = 2_000;
const SETTLED_AFTER_MS = 200;
const ATTEMPTS = 5;

const lockFile = z.object({ processId: z.number(), port: z.number(), token: z.string() });
type Lock = z.infer<typeof lockFile>;

interface HeldLock {
  release: () => Promise<void>;
}

/** Takes the lock, or fails while another process holds it, with the words that `heldBy` has for that. */
export async function takeLock(path: string, heldBy: (processId: number) => string): Promise<HeldLock> {
  const token = randomUUID();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(token);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();

  const own: Lock = { processId: process.pid, port: (server.address() as AddressInfo).port, token };
  const draft = `${path}.${token}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await linkIfAbsent(draft, path)) return { release: () => release(server, path, token) };
      const other = await readLock(path);
      if (other !== undefined && (await isAlive(other))) {
        throw new FatalError(heldBy(other.processId));
      }
      if (await takeOver(draft, path, other, token)) return { release: () => release(server, path, token) };
    }
    throw new FatalError(`Cannot take the lock ${path}: others keep taking it.`);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Whether a process holds the lock now. */
export async function isLockHeld(path: string): Promise<boolean> {
  const lock = await readLock(path);
  return lock !== undefined && (await isAlive(lock));
}

/** A link is made in one step, with its content, or not at all. */
async function linkIfAbsent(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readLock(path: string): Promise<Lock | undefined> {
  try {
    return lockFile.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

async function isAlive(lock: Lock): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: lock.port, timeout: RESPONSE_WITHIN_MS });
  socket.on('timeout', () => socket.destroy());
  try {
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer === lock.token;
  } catch {
    return false;
  }
}

/** Replaces a stale lock. Of several starts that do so at once the last holds it, which each sees after a moment. */
async function takeOver(draft: string, path: string, stale: Lock | undefined, token: string): Promise<boolean> {
  if ((await readLock(path))?.token !== stale?.token) return false;
  const copy = `${draft}.copy`;
  await link(draft, copy);
  await rename(copy, path);
  await sleep(SETTLED_AFTER_MS);
  return (await readLock(path))?.token === token;
}

async function release(server: Server, path: string, token: string): Promise<void> {
  server.close();
  if ((await readLock(path))?.token === token) await rm(path, { force: true });
}

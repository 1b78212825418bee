/**
 * A postmaster that already runs on a cluster: left over by a killed process, still shutting down,
 * or in use by another Kasgres. Its file `postmaster.pid` contains its process id, but outlives it.
 */
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError, sleep } from '@kasgres/runtime';
import { run } from './account.ts';
import { SUPERVISOR_NAME } from './supervisor.ts';

/** How long the supervisor of another start may take to notice that its parent was killed. */
const NOTICE_MS = 2000;
const SHUTDOWN_MS = 120_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 50;

interface LockFile {
  pid: number;
  /** `starting`, `ready`, `stopping`, … */
  status: string;
}

/**
 * Waits until no postmaster runs on the data directory. A postmaster with a supervisor belongs to a
 * running start, unless it is stopping. One without is an orphan and is shut down.
 * @returns the process id in a stale lock file if another program has that id now (see `launch`)
 * @throws {FatalError} if the cluster is in use
 */
export async function clearDataDirectory(dataDirectory: string): Promise<number | undefined> {
  const lock = await readLockFile(dataDirectory);
  if (lock === undefined || !isAlive(lock.pid)) return undefined;
  const isRunning = async (): Promise<boolean> => isAlive(lock.pid) && (await isPostmasterOf(lock.pid, dataDirectory));
  if (!(await isRunning())) return lock.pid;

  if (await isSupervised(lock.pid)) {
    const isInUse = async (): Promise<boolean> => (await isRunning()) && !(await isStopping(dataDirectory));
    if (!(await waitWhile(isInUse, NOTICE_MS))) {
      throw new FatalError(
        `Another Kasgres is using the database in ${dataDirectory} (Postgres is process ${lock.pid}). ` +
          'Stop it first, or set another DATA_DIR.',
      );
    }
  } else {
    signal(lock.pid, 'SIGINT');
  }
  if (await waitWhile(isRunning, SHUTDOWN_MS)) return undefined;
  signal(lock.pid, 'SIGQUIT');
  if (await waitWhile(isRunning, IMMEDIATE_SHUTDOWN_MS)) return undefined;
  throw new FatalError(
    `The Postgres of a previous start (process ${lock.pid}) on ${dataDirectory} does not stop. Stop it, then try again.`,
  );
}

async function readLockFile(dataDirectory: string): Promise<LockFile | undefined> {
  let text: string;
  try {
    text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8');
  } catch {
    return undefined;
  }
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 1 ? { pid, status: (lines[7] ?? '').trim() } : undefined;
}

async function isStopping(dataDirectory: string): Promise<boolean> {
  return (await readLockFile(dataDirectory))?.status === 'stopping';
}

/**
 * Process ids are reused, in containers at every start, so only a Postgres in this directory
 * counts. A zombie, which a container without an init process keeps forever, has no working
 * directory.
 */
async function isPostmasterOf(pid: number, dataDirectory: string): Promise<boolean> {
  if (process.platform === 'linux') {
    // A postmaster runs in its data directory, even after the checkout was moved.
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return cwd === (await realpath(dataDirectory)) && (await readCommand(pid)).includes('postgres');
  }
  return (await readCommand(pid)).includes(dataDirectory);
}

async function isSupervised(pid: number): Promise<boolean> {
  const parent = await readParent(pid);
  return parent !== undefined && (await readCommand(parent)).includes(SUPERVISOR_NAME);
}

/** Slim Linux containers have no `ps`, and other systems have no /proc. */
async function readCommand(pid: number): Promise<string> {
  if (process.platform !== 'linux') return (await run('ps', ['-o', 'command=', '-p', String(pid)])).output;
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
}

async function readParent(pid: number): Promise<number | undefined> {
  const text =
    process.platform === 'linux'
      ? /^PPid:\s*(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1]
      : (await run('ps', ['-o', 'ppid=', '-p', String(pid)])).output.trim();
  return text === undefined || text === '' ? undefined : Number(text);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns whether the condition became false in time. */
async function waitWhile(condition: () => Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    if (!(await condition())) return true;
    await sleep(POLL_MS);
  }
  return !(await condition());
}

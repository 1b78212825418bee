/**
 * A postmaster that is already at work on a cluster when we want to start one: left over by a process that was killed, still
 * shutting down, or in use by another Kasgres. Its file `postmaster.pid` names it, but the file also outlives it.
 */
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError, sleep } from '@kasgres/runtime';
import { run } from './run.ts';
import { SUPERVISOR_NAME } from './supervisor.ts';

/** How long another start's supervisor may take to notice that its parent was killed. */
const NOTICE_MS = 2000;
const SHUTDOWN_MS = 120_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 50;

interface LockFile {
  pid: number;
  /** `starting`, `ready`, `stopping`, … as pg_ctl reads it. */
  status: string;
}

/**
 * Returns once no postmaster works on the data directory. One whose supervisor is alive belongs to a start that runs, unless
 * it is stopping; one without is an orphan and is shut down.
 * @returns the process id in a lock file that speaks of no Postgres, when another process has that id now: Postgres must be
 * told that it is none (see `start`), else it refuses to start
 * @throws {FatalError} when the cluster is in use
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
  throw new FatalError(`The Postgres of an earlier start (process ${lock.pid}) on ${dataDirectory} does not stop.`);
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
 * Process ids are used again, in containers at every start: only a Postgres in this very directory counts. A zombie, which a
 * container without an init process keeps for ever, has no working directory and is none.
 */
async function isPostmasterOf(pid: number, dataDirectory: string): Promise<boolean> {
  if (process.platform === 'linux') {
    // A postmaster works in its data directory; this holds also after the checkout was moved.
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return cwd === (await realpath(dataDirectory)) && (await readCommand(pid)).includes('postgres');
  }
  return (await readCommand(pid)).includes(dataDirectory);
}

async function isSupervised(pid: number): Promise<boolean> {
  const parent = await readParent(pid);
  return parent !== undefined && (await readCommand(parent)).includes(SUPERVISOR_NAME);
}

/** Not every Linux has `ps` (slim containers do not), and no other system has /proc. */
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

/** Whether the condition has ended within the time. */
async function waitWhile(condition: () => Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    if (!(await condition())) return true;
    await sleep(POLL_MS);
  }
  return !(await condition());
}

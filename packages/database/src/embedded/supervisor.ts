/**
 * Starts the postmaster under a small shell that lives exactly as long as it. The shell holds one end of a pipe whose other
 * end is ours; when we close it, or die by whatever signal, it reads the end of file and shuts Postgres down. So no Postgres
 * outlives its parent, unless the shell itself is killed: `orphan.ts` deals with that at the next start.
 *
 * Both run in a session of their own: Ctrl-C at a terminal reaches us alone, and we decide when Postgres stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, open } from 'node:fs/promises';
import { sleep } from '@kasgres/runtime';
import type { Account } from './run.ts';

/** Name of the shell in the list of processes, by which `orphan.ts` knows it. */
export const SUPERVISOR_NAME = 'kasgres-postgres-supervisor';

/**
 * SIGINT is Postgres's fast shutdown: it ends its clients, writes a checkpoint and goes. SIGQUIT is its immediate one, without
 * the checkpoint. (A shell makes its background jobs ignore both; Postgres sets its own handlers all the same.)
 */
const SCRIPT = `
remove=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
postmaster=$!
trap 'kill -INT $postmaster' INT TERM HUP
trap 'kill -QUIT $postmaster' QUIT
{ cat <&3 >/dev/null; kill -INT $postmaster; } 2>/dev/null &
watcher=$!
exec 3<&-
while kill -0 $postmaster 2>/dev/null; do wait $postmaster; code=$?; done
kill $watcher 2>/dev/null
if [ -n "$remove" ] && [ $code -eq 0 ]; then rm -rf -- "$remove"; fi
exit $code`;

/** After this long a fast shutdown that hangs becomes an immediate one. */
const FAST_SHUTDOWN_MS = 60_000;

export interface SupervisedPostgres {
  /** Resolves with the exit code when Postgres has ended, for whatever reason. */
  exited: Promise<number | undefined>;
  /** Shuts Postgres down and waits for its end. */
  stop: (options?: StopOptions) => Promise<void>;
}

export interface StopOptions {
  /** Without a checkpoint, for somebody who will not wait: the next start recovers what was committed from the WAL. */
  immediate?: boolean;
}

interface SuperviseOptions {
  command: readonly string[];
  account: Account;
  env: NodeJS.ProcessEnv;
  /** What Postgres says goes to the end of this file. */
  logFile: string;
  /** Deleted once Postgres was shut down, even when we are gone by then. */
  removeAtEnd?: string | undefined;
}

/** @throws when the shell cannot be started */
export async function supervise(options: SuperviseOptions): Promise<SupervisedPostgres> {
  // Opened here and handed on, since the account of Postgres need not be able to reach the file. No symbolic link is followed:
  // root must not write where that account would point it to.
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = await open(options.logFile, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  let child: ChildProcess;
  try {
    const parameters = ['-c', SCRIPT, SUPERVISOR_NAME, options.removeAtEnd ?? '', ...options.command];
    child = spawn('/bin/sh', parameters, {
      cwd: '/',
      env: options.env,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
      ...options.account,
    });
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => {
    child.stdin?.destroy();
    return code ?? undefined;
  });
  // Neither the process nor the pipe keeps a program alive that has nothing else to do.
  child.unref();
  return {
    exited,
    stop: async ({ immediate = false } = {}) => await stop(child, exited, immediate ? 0 : FAST_SHUTDOWN_MS),
  };
}

async function stop(child: ChildProcess, exited: Promise<unknown>, patienceMs: number): Promise<void> {
  child.ref();
  child.stdin?.destroy();
  const ended = new AbortController();
  const lastResort = sleep(patienceMs, ended.signal).then(
    () => child.kill('SIGQUIT'),
    () => {},
  );
  await exited;
  ended.abort();
  await lastResort;
}

/**
 * Runs the postmaster under a small shell that reads a pipe from this process. When this process
 * closes the pipe, or dies by any signal, the shell shuts Postgres down, so that Postgres does not
 * outlive it. If the shell is killed too, the next start stops Postgres (orphan.ts).
 *
 * Both run in a separate session: Ctrl-C at a terminal reaches this process alone, which decides
 * when Postgres stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, open } from 'node:fs/promises';
import { sleep } from '@kasgres/runtime';
import type { Account } from './account.ts';

/** Name of the shell in the list of processes, by which orphan.ts recognises it. */
export const SUPERVISOR_NAME = 'kasgres-postgres-supervisor';

/**
 * SIGINT is Postgres's fast shutdown: it disconnects clients and writes a checkpoint. SIGQUIT is
 * the immediate shutdown, without a checkpoint. A shell makes background jobs ignore both, but
 * Postgres installs its own handlers.
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

/** A fast shutdown that takes longer becomes an immediate one. */
const FAST_SHUTDOWN_MS = 60_000;

export interface SupervisedPostgres {
  /** Resolves with the exit code when Postgres has exited, for any reason. */
  exited: Promise<number | undefined>;
  /** Shuts Postgres down and waits until it has exited. */
  stop: (options?: StopOptions) => Promise<void>;
}

export interface StopOptions {
  /** Skips the checkpoint: the next start recovers from the WAL. */
  immediate?: boolean;
}

interface SuperviseOptions {
  command: readonly string[];
  account: Account;
  env: NodeJS.ProcessEnv;
  /** The log of Postgres is appended to this file. */
  logFile: string;
  /** Deleted after Postgres has shut down, even if this process is gone by then. */
  removeAtEnd?: string | undefined;
}

/** @throws when the shell cannot be started */
export async function supervise(options: SuperviseOptions): Promise<SupervisedPostgres> {
  // Opened here, since the account of Postgres may not reach the file. Symbolic links are not
  // followed: that account must not direct the writes of root.
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
  // Neither the process nor the pipe keeps this process alive.
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

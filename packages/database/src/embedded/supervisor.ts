/**
 * Starts the postmaster under a small shell that lives exactly as long as it. The shell holds one end of a pipe whose other
 * end is ours; when we close it, or die by whatever signal, it reads the end of file and shuts Postgres down. So no Postgres
 * outlives its parent, unless the shell itself is killed: `orphan.ts` deals with that at the next start.
 *
 * Both run in a session of their own: Ctrl-C at a terminal reaches us alone, and we decide when Postgres stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { sleep } from '@kasgres/runtime';
import { type Account } from './run.ts';

/** Name of the shell in the list of processes, by which `orphan.ts` knows it. */
export const SUPERVISOR_NAME = 'kasgres-postgres-supervisor';

/** SIGINT is Postgres's fast shutdown: it ends its clients, writes a checkpoint and goes. */
const SCRIPT = `
remove=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
postmaster=$!
trap 'kill -INT $postmaster' INT TERM HUP
{ cat <&3 >/dev/null; kill -INT $postmaster; } 2>/dev/null &
watcher=$!
exec 3<&-
while kill -0 $postmaster 2>/dev/null; do wait $postmaster; code=$?; done
kill $watcher 2>/dev/null
if [ -n "$remove" ] && [ $code -eq 0 ]; then rm -rf -- "$remove"; fi
exit $code`;

/** After this long a fast shutdown that hangs becomes an immediate one; the next start then recovers from the WAL. */
const FAST_SHUTDOWN_MS = 60_000;

export interface SupervisedPostgres {
  /** Resolves with the exit code when Postgres has ended, for whatever reason. */
  exited: Promise<number | undefined>;
  /** Shuts Postgres down and waits for its end. */
  stop: () => Promise<void>;
}

export interface SuperviseOptions {
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
  // Opened here and handed on: the account of Postgres need not be able to reach the file.
  const log = await open(options.logFile, 'a', 0o600);
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
  return { exited, stop: async () => await stop(child, exited) };
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.ref();
  child.stdin?.destroy();
  const deadline = new AbortController();
  const killAtDeadline = sleep(FAST_SHUTDOWN_MS, deadline.signal).then(
    // The group has the postmaster in it, which turns SIGQUIT into an immediate shutdown.
    () => child.pid !== undefined && process.kill(-child.pid, 'SIGQUIT'),
    () => false,
  );
  await exited;
  deadline.abort();
  await killAtDeadline;
}

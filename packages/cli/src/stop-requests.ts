/**
 * Requests to stop: Ctrl-C, a termination signal, the end of the terminal, and the end of the
 * process that started this one. The first request asks for a clean stop, the second for an
 * immediate one. npm forwards a Ctrl-C that the terminal has already sent to us, so all signals
 * within a second are one request.
 */
import { readFileSync } from 'node:fs';

const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 500;

export interface StopRequests {
  clean: AbortSignal;
  immediate: AbortSignal;
}

export function watchStopRequests(): StopRequests {
  const clean = new AbortController();
  const immediate = new AbortController();
  let firstAt = 0;
  const request = (): void => {
    if (!clean.signal.aborted) {
      firstAt = performance.now();
      clean.abort();
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) {
      immediate.abort();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  // Writing to a closed terminal must not crash the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  watchParent(() => clean.abort());
  return { clean: clean.signal, immediate: immediate.signal };
}

/**
 * The launcher holds an IPC channel to this process. npm does not, and does not forward every
 * signal.
 */
function watchParent(onGone: () => void): void {
  process.on('disconnect', onGone);
  process.channel?.unref();
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const npm = findNpm();
  setInterval(() => {
    if (findNpm() !== npm) onGone();
  }, PARENT_CHECK_MS).unref();
}

/**
 * Returns the process id of npm: our parent, or the parent of the shell between npm and us. After
 * npm has exited it is another id.
 */
function findNpm(): number {
  const parent = process.ppid;
  try {
    const isShell = readFileSync(`/proc/${parent}/cmdline`, 'utf8').split('\0')[1] === '-c';
    const grandparent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${parent}/status`, 'utf8'))?.[1];
    return isShell && grandparent !== undefined ? Number(grandparent) : parent;
  } catch {
    // On systems without /proc, shells replace themselves by their only command.
    return parent;
  }
}

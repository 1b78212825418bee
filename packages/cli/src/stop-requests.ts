// Who may end a start: Ctrl-C, a termination signal, the end of the terminal, and the end of the process that started it.
// The first request asks for a clean end, a second one for an end at once. npm sends the Ctrl-C of the terminal on to us,
// who had it from the terminal already, so what follows within a second is the same request.

import { readFileSync } from 'node:fs';

const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 500;

export interface StopRequests {
  /** Aborted by the first request. */
  clean: AbortSignal;
  /** Aborted by the second. */
  atOnce: AbortSignal;
}

export function watchStopRequests(): StopRequests {
  const clean = new AbortController();
  const atOnce = new AbortController();
  let firstAt = 0;
  const request = (): void => {
    if (!clean.signal.aborted) {
      firstAt = performance.now();
      clean.abort();
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) {
      atOnce.abort();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  // Writing to a terminal that is gone must not be what ends us.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  watchParent(() => clean.abort());
  return { clean: clean.signal, atOnce: atOnce.signal };
}

/** Our launcher holds a channel to us. npm does not, and not every end of npm is sent on to us. */
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
 * The process that npm is, as far as can be told: our parent, or the parent of the shell that npm started us with. Another
 * one takes its place when it ends.
 */
function findNpm(): number {
  const parent = process.ppid;
  try {
    const isShell = readFileSync(`/proc/${parent}/cmdline`, 'utf8').split('\0')[1] === '-c';
    const grandparent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${parent}/status`, 'utf8'))?.[1];
    return isShell && grandparent !== undefined ? Number(grandparent) : parent;
  } catch {
    // Where there is no /proc, shells give their place to the one command that they are to run.
    return parent;
  }
}

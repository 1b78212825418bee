// `kasgres indexer`, `kasgres api`: one program in the foreground, with its log on stdout, as a container wants it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { watchStopRequests } from '../stop-requests.ts';

/** Runs the program to its end and returns its exit code. */
export async function runInForeground(path: string, env: Record<string, string>): Promise<number> {
  const requests = watchStopRequests();
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A Ctrl-C at the terminal reaches us alone, and the program through us: once.
    detached: true,
  });
  requests.clean.addEventListener('abort', () => child.kill('SIGTERM'));
  requests.atOnce.addEventListener('abort', () => child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
}

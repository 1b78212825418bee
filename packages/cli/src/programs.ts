/** The programs that this command starts as separate processes. It imports none of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { watchStopRequests } from './stop-requests.ts';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const programPaths = {
  indexer: pathOf('../../indexer/src/main.ts'),
  api: pathOf('../../api/src/main.ts'),
  webhooks: pathOf('../../api/src/webhooks/main.ts'),
  simulatedNode: pathOf('../../devnet/src/main.ts'),
};

/** Runs a program in the foreground, with its log on stdout, until it exits. Returns its exit code. */
export async function runInForeground(path: string, env: Record<string, string>): Promise<number> {
  const requests = watchStopRequests();
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A Ctrl-C at the terminal must reach the program once, from us.
    detached: true,
  });
  requests.clean.addEventListener('abort', () => child.kill('SIGTERM'));
  requests.immediate.addEventListener('abort', () => child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
}

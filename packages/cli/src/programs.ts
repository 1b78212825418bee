/** The programs that this command starts as separate processes. It imports none of them. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { watchStopRequests } from './stop-requests.ts';

const run = promisify(execFile);

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export const programPaths = {
  indexer: pathOf('../../indexer/src/main.ts'),
  api: pathOf('../../api/src/main.ts'),
  webhooks: pathOf('../../webhooks/src/main.ts'),
  simulatedNode: pathOf('../../devnet/src/main.ts'),
};

/**
 * Returns the arguments of Node for a program. A larger young generation would not help the
 * indexer, since what a batch allocates survives it anyway, and would take 150 MB more.
 */
export const argumentsOf = (path: string): string[] =>
  path === programPaths.indexer ? ['--max-semi-space-size=12', path] : [path];

/** Programs that print the problems of the environment of another one as a JSON array. */
const environmentChecks = [
  pathOf('../../indexer/src/check-environment.ts'),
  pathOf('../../api/src/check-environment.ts'),
];

/**
 * Returns the problems of the environment of the indexer and of the API, in which some variables
 * are replaced.
 */
export async function findEnvironmentProblems(replaced: Record<string, string>): Promise<string[]> {
  const env = { ...process.env, ...replaced };
  const outputs = await Promise.all(environmentChecks.map((path) => run(process.execPath, [path], { env })));
  return outputs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
}

/**
 * Runs a program in the foreground, with its log on stdout, until it exits. Returns its exit code.
 */
export async function runInForeground(path: string, env: Record<string, string>): Promise<number> {
  const requests = watchStopRequests();
  const child = spawn(process.execPath, argumentsOf(path), {
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

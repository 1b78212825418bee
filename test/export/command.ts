/** `kasgres export` as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from '@kasgres/database/testing';

const KASGRES = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

export interface RunningExport {
  kill: (signal: NodeJS.Signals) => void;
  /** Exit code, and what it printed. */
  ended: Promise<[number | null, string]>;
}

export function startExport({ url }: Pick<TestDatabase, 'url'>, args: readonly string[]): RunningExport {
  const program = spawn(process.execPath, [KASGRES, 'export', ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed: string[] = [];
  program.stderr.on('data', (data) => printed.push(String(data)));
  return {
    kill: (signal) => program.kill(signal),
    ended: once(program, 'close').then(([code]) => [code as number | null, printed.join('')]),
  };
}

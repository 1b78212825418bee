/** A line of the greeting, pasted into a shell. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT, shellEnv } from './started.ts';

const runFile = promisify(execFile);

/** What it printed. Rejects, with `code` and `stderr`, when it fails. */
export async function paste(line: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await runFile('sh', ['-c', line], { cwd: ROOT, env: { ...shellEnv(), ...env } });
  return stdout;
}

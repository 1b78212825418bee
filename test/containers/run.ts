/** Runs commands of the shell. */
import { spawn } from 'node:child_process';

interface RunOptions {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** Written to stdin. */
  input?: string;
  timeoutMs?: number;
}

export interface Finished {
  code: number;
  /** stdout and stderr in the order in which they arrived. */
  output: string;
  stdout: string;
}

const TIMEOUT_MS = 900_000;

/**
 * Runs a script of bash with `-e`, and returns how it ended. Commands that exceed the time are
 * killed, and have the code 124.
 */
export async function tryToRun(script: string, options: RunOptions = {}): Promise<Finished> {
  const { cwd, env, input, timeoutMs = TIMEOUT_MS } = options;
  const parameters = ['--kill-after=10', String(timeoutMs / 1_000), 'bash', '-e', '-o', 'pipefail', '-c', script];
  const child = spawn('timeout', parameters, { cwd, env: { ...process.env, ...env } });
  let [output, stdout] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  // A command may exit without having read it.
  child.stdin.on('error', () => undefined).end(input ?? '');
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject).on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  return { code, output: stripControls(output), stdout: stripControls(stdout) };
}

/** Removes sequences that Compose prints even if there is no terminal. */
function stripControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- They begin with a control character.
  return text.replaceAll(/\u001B\[[\d;]*[A-Za-z]/g, '');
}

/**
 * Returns the stdout of a script, without the last line end.
 * @throws if it fails, with what it printed
 */
export async function run(script: string, options: RunOptions = {}): Promise<string> {
  const { code, output, stdout } = await tryToRun(script, options);
  if (code !== 0) throw new Error(`exit code ${code} of: ${script}\n${output.slice(-8_000)}`);
  return stdout.trimEnd();
}

export async function succeeds(script: string, options: RunOptions = {}): Promise<boolean> {
  return (await tryToRun(script, options)).code === 0;
}

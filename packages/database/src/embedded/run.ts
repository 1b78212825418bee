/** Running a short command, as another user when asked to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Whom a process runs as; undefined for the user of this process. */
export type Account = { uid: number; gid: number } | undefined;

interface CommandResult {
  /** Exit code; undefined when the command could not be started or was killed. */
  code: number | undefined;
  /** Standard output and standard error. */
  output: string;
}

/** Runs a command to its end. Never throws: what went wrong is in the result. */
export async function run(
  command: string,
  parameters: readonly string[],
  { account, env = process.env }: { account?: Account; env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const chunks: Buffer[] = [];
  try {
    // Started where every account may be: a command fails in a directory that it may not enter.
    const child = spawn(command, parameters, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], ...account });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? undefined, output: Buffer.concat(chunks).toString() };
  } catch (error) {
    return { code: undefined, output: error instanceof Error ? error.message : String(error) };
  }
}

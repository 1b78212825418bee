/** The indexer and the API as separate processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Program {
  processId: number;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  /** Resolves to the exit code; null if a signal ended the process. */
  exited: Promise<number | null>;
  isRunning(): boolean;
  /** Returns the end of its output, for messages of failed tests. */
  output(): string;
}

export interface ProgramEnv {
  nodeUrl: string;
  databaseUrl: string;
}

const MAX_OUTPUT_CHARACTERS = 20_000;
const START_DEADLINE_MS = 60_000;

export function startIndexer(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('../../packages/indexer/src/main.ts', env, more);
}

export function startIndexerWithSmallBatches(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('indexer-with-small-batches.ts', env, more);
}

/** Waits until `isUp` holds for the response to `/v1/status`. */
export async function startApi(
  env: ProgramEnv,
  isUp = (status: Response): boolean => status.ok,
  more: Record<string, string> = {},
): Promise<{ program: Program; url: string }> {
  const port = await freePort();
  const program = startApiProgram(env, { PORT: String(port), ...more });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await fetch(`${url}/v1/status`).then(isUp, () => false))) {
    if (Date.now() > deadline) throw new Error(`the API does not respond:\n${program.output()}`);
    await sleep(50);
  }
  return { program, url };
}

/** Starts the API without waiting for a response. */
export function startApiProgram(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('../../packages/api/src/main.ts', env, { PORT: '0', ...more });
}

/** @param path of the main file, relative to this one */
export function startProgram(
  path: string,
  { nodeUrl, databaseUrl }: ProgramEnv,
  more: Record<string, string>,
): Program {
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, import.meta.url))], {
    env: { PATH: process.env['PATH'], NODE_URL: nodeUrl, DATABASE_URL: databaseUrl, METRICS_PORT: '0', ...more },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  killAtExit(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-MAX_OUTPUT_CHARACTERS);
    });
  }
  return {
    processId: child.pid ?? 0,
    stop: () => stopProcess(child, 'SIGTERM'),
    kill: () => stopProcess(child, 'SIGKILL'),
    exited: once(child, 'exit').then(([code]) => code as number | null),
    isRunning: () => isRunning(child),
    output: () => output,
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Sends the signal to a process that still runs, and waits for its exit. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Makes sure that the process does not outlive the test run, unless that is killed itself. */
export function killAtExit(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** @throws Error if the given port is not free */
export async function freePort(given = 0): Promise<number> {
  const server = createServer();
  server.listen(given, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

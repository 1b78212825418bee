/** The indexer and the API as separate processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

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
  /**
   * Returns the address that the API logs at level `info`, once it listens.
   * @throws Error if it exits before
   */
  url(): Promise<string>;
  /**
   * Returns the address of the metrics. Requests are accepted from then on.
   * @throws Error like `url`
   */
  metricsUrl(): Promise<string>;
}

export interface ProgramEnv {
  nodeUrl: string;
  databaseUrl: string;
  /** The directory that the API is started from; default: this one. */
  checkout?: string;
  /** The limit of open files; default: that of the tests. */
  fileLimit?: number;
}

const MAX_OUTPUT_CHARACTERS = 20_000;
const START_DEADLINE_MS = 60_000;
/**
 * The cache of the `kasgres` command: half of a start's processor time is stripping types and
 * compiling.
 */
const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/kasgres');

export function startIndexer(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('../../packages/indexer/src/main.ts', env, more);
}

export function startIndexerWithSmallBatches(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('indexer-with-small-batches.ts', env, more);
}

/**
 * Waits until `isUp` holds for the response to `/v1/status`. The API chooses its port. Another log
 * level than `info`, at which it logs the port, needs a PORT.
 */
export async function startApi(
  env: ProgramEnv,
  isUp = (status: Response): boolean => status.ok,
  more: Record<string, string> = {},
): Promise<{ program: Program; url: string }> {
  const program = startApiProgram(env, more);
  const url = more['PORT'] === undefined ? await program.url() : `http://127.0.0.1:${more['PORT']}`;
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await fetch(`${url}/v1/status`).then(isUp, () => false))) {
    if (!program.isRunning()) throw new Error(`the API exited:\n${program.output()}`);
    if (Date.now() > deadline) throw new Error(`the API does not respond:\n${program.output()}`);
    await sleep(50);
  }
  return { program, url };
}

/** Starts the API without waiting for a response. */
export function startApiProgram(env: ProgramEnv, more: Record<string, string> = {}): Program {
  const { checkout = join(import.meta.dirname, '../..') } = env;
  return startProgram(join(checkout, 'packages/api/src/main.ts'), env, { PORT: '0', ...more });
}

/** @param path of the main file, absolute or relative to this directory */
export function startProgram(
  path: string,
  { nodeUrl, databaseUrl, fileLimit }: ProgramEnv,
  more: NodeJS.ProcessEnv,
  parameters: readonly string[] = [],
): Program {
  const program = [process.execPath, resolve(import.meta.dirname, path), ...parameters] as const;
  const limited = ['sh', '-c', 'ulimit -n "$1"; shift; exec "$@"', 'sh', String(fileLimit), ...program] as const;
  const [command, ...args] = fileLimit === undefined ? program : limited;
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      NODE_URL: nodeUrl,
      DATABASE_URL: databaseUrl,
      METRICS_PORT: '0',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  killAtExit(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-MAX_OUTPUT_CHARACTERS);
    });
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const addresses = { url: Promise.withResolvers<string>(), metricsUrl: Promise.withResolvers<string>() };
  const lines = child.stdout && createInterface({ input: child.stdout });
  lines?.on('line', (line) => {
    const [, url] = /"Server listening at ([^"]+)"/.exec(line) ?? [];
    if (url !== undefined) addresses.url.resolve(url);
    const [, metricsUrl] = /"url":"([^"]+)",.*"serving metrics"/.exec(line) ?? [];
    if (metricsUrl !== undefined) addresses.metricsUrl.resolve(metricsUrl);
  });
  const orExit = async (address: Promise<string>): Promise<string> => {
    const failed = exited.then((code): never => {
      throw new Error(`exited with code ${code}:\n${output}`);
    });
    return await Promise.race([address, failed]);
  };
  return {
    processId: child.pid ?? 0,
    stop: () => stopProcess(child, 'SIGTERM'),
    kill: () => stopProcess(child, 'SIGKILL'),
    exited,
    isRunning: () => isRunning(child),
    output: () => output,
    url: () => orExit(addresses.url.promise),
    metricsUrl: () => orExit(addresses.metricsUrl.promise),
  };
}

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
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

/**
 * Finds a port for a program that cannot choose one itself, or whose port must stay the same when
 * it is restarted. Systems give ports above 32767 to outgoing connections and to programs that
 * listen on port 0, so nothing but a call of this function takes this one meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

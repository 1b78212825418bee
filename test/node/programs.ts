/** The real indexer and API, each as a process of its own, as they run in earnest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './kaspad.ts';
import { stopWithTest } from './stop-with-test.ts';

export interface Program {
  processId: number;
  /** Ends it as an operator does, and waits. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** How it ended: the exit code, null when a signal ended it. */
  exited: Promise<number | null>;
  isRunning(): boolean;
  /** What it said last, for messages of failed tests. */
  output(): string;
}

export interface ProgramEnv {
  nodeUrl: string;
  databaseUrl: string;
}

const KEPT_OUTPUT = 20_000;
const START_DEADLINE_MS = 60_000;

export function startIndexer(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('../../packages/indexer/src/main.ts', env, more);
}

/** Resolves when `/v1/status` answers, with a 200 unless told otherwise. */
export async function startApi(
  env: ProgramEnv,
  isUp = (status: Response): boolean => status.ok,
  more: Record<string, string> = {},
): Promise<{ program: Program; url: string }> {
  const port = await freePort();
  const program = startApiProgram(env, { PORT: String(port), ...more });
  const url = `http://127.0.0.1:${port}`;
  const giveUpAt = Date.now() + START_DEADLINE_MS;
  while (!(await answers(`${url}/v1/status`, isUp))) {
    if (Date.now() > giveUpAt) throw new Error(`the API does not answer:\n${program.output()}`);
    await sleep(50);
  }
  return { program, url };
}

/** The process alone: it may end before it answers. */
export function startApiProgram(env: ProgramEnv, more: Record<string, string> = {}): Program {
  return startProgram('../../packages/api/src/main.ts', env, { PORT: '0', ...more });
}

/** @param path of its main file, relative to this one */
export function startProgram(
  path: string,
  { nodeUrl, databaseUrl }: ProgramEnv,
  more: Record<string, string>,
): Program {
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, import.meta.url))], {
    env: { PATH: process.env['PATH'], NODE_URL: nodeUrl, DATABASE_URL: databaseUrl, METRICS_PORT: '0', ...more },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  stopWithTest(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString()).slice(-KEPT_OUTPUT);
    });
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    processId: child.pid ?? 0,
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    output: () => output,
  };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function answers(url: string, isUp: (answer: Response) => boolean): Promise<boolean> {
  try {
    return isUp(await fetch(url));
  } catch {
    return false;
  }
}

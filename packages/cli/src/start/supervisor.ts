/**
 * The programs of `kasgres start`, each a process that is restarted when it exits. A program has
 * its own process group, so that a Ctrl-C at the terminal reaches this process alone and programs
 * stop in the right order, and an IPC channel, whose end tells it that this process is gone, even
 * after a kill -9. Exit code 1 means that a restart will not help.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { backoff, EXIT_FATAL, FatalError, sleep } from '@kasgres/runtime';
import { argumentsOf } from '../programs.ts';
import { ProgramOutput } from './program-output.ts';

/** A program that ran for longer has recovered: the next restart is quick again. */
const STABLE_AFTER_MS = 60_000;
/** Longer than the shutdown deadline of the programs. */
const STOP_WITHIN_MS = 30_000;
const OUTPUT_CLOSES_WITHIN_MS = 500;

export interface Program {
  name: string;
  /** Path of its TypeScript file. */
  path: string;
  /** Called at each start of a process. */
  env?: () => Record<string, string>;
  onLine?: (line: string) => void;
}

export class Supervisor {
  readonly #logs: string;
  readonly #print: (line: string) => void;
  readonly #programs: SupervisedProgram[] = [];
  readonly #failure = new AbortController();
  /** Called when a program got a new process. */
  onProcess: () => void = () => {};

  constructor(logs: string, print: (line: string) => void) {
    this.#logs = logs;
    this.#print = print;
  }

  /** Aborted with a FatalError when a program exited and a restart will not help. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  start(program: Program): SupervisedProgram {
    const supervised = new SupervisedProgram(program, {
      logPath: join(this.#logs, `${program.name}.log`),
      print: this.#print,
      onFailure: (reason) => this.#failure.abort(reason),
      onProcess: () => this.onProcess(),
    });
    this.#programs.push(supervised);
    return supervised;
  }

  processIds(): number[] {
    return this.#programs.flatMap((program) => program.processId ?? []);
  }

  async stop(): Promise<void> {
    for (const program of this.#programs.toReversed()) await program.stop();
  }

  kill(): void {
    for (const program of this.#programs) program.kill();
  }
}

interface SupervisedProgramOptions {
  logPath: string;
  print: (line: string) => void;
  /** Called when the program exited and a restart will not help. */
  onFailure: (failure: FatalError) => void;
  onProcess: () => void;
}

export class SupervisedProgram {
  readonly #program: Program;
  readonly #options: SupervisedProgramOptions;
  readonly #stopping = new AbortController();
  readonly #stopped: Promise<void>;
  #process: ChildProcess | undefined;

  constructor(program: Program, options: SupervisedProgramOptions) {
    this.#program = program;
    this.#options = options;
    this.#stopped = this.#keepRunning();
  }

  get processId(): number | undefined {
    return this.#process?.pid;
  }

  /** Stops the program and waits for its exit. Kills it after STOP_WITHIN_MS. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#process?.kill('SIGTERM');
    const deadline = setTimeout(() => {
      this.#options.print(`${this.#program.name} did not stop within ${STOP_WITHIN_MS / 1000} s and was killed.`);
      this.kill();
    }, STOP_WITHIN_MS);
    await this.#stopped;
    clearTimeout(deadline);
  }

  /** Stops the process, so that the next one gets the current environment. */
  restart(): void {
    this.#process?.kill('SIGTERM');
  }

  kill(): void {
    this.#stopping.abort();
    const id = this.#process?.pid;
    if (id === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? id : -id, 'SIGKILL');
    } catch {
      // It has exited already.
    }
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping;
    const { name, onLine } = this.#program;
    const { logPath, print, onFailure } = this.#options;
    const output = new ProgramOutput({ name, logPath, print, onLine });
    let delays = backoff({ firstMs: 500 });
    while (!signal.aborted) {
      const startedAt = performance.now();
      output.reset();
      const exit = await this.#runOnce(output);
      if (signal.aborted) break;
      const reason = output.lastError();
      if (exit === EXIT_FATAL) {
        onFailure(new FatalError(`${name} stopped: ${reason || 'it gave no reason'}`));
        break;
      }
      if (performance.now() - startedAt > STABLE_AFTER_MS) delays = backoff({ firstMs: 500 });
      const delayMs = delays.next().value;
      print(`${name} exited (${exit})${reason && `: ${reason}`}; restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await sleep(delayMs, signal).catch(() => {});
    }
    output.close();
  }

  /** Returns the exit code, or the signal that killed the program. */
  async #runOnce(output: ProgramOutput): Promise<number | NodeJS.Signals> {
    const child = spawn(process.execPath, argumentsOf(this.#program.path), {
      env: { ...process.env, ...this.#program.env?.() },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) if (stream) output.read(stream);
    this.#options.onProcess();
    const closed = once(child, 'close').catch(() => {});
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      // Its last output may still be in the pipe. A process that it left behind may hold the pipe
      // open.
      await Promise.race([closed, sleep(OUTPUT_CLOSES_WITHIN_MS)]);
      return code ?? signal ?? EXIT_FATAL;
    } finally {
      this.#process = undefined;
    }
  }
}

const WAIT_AT_MOST_MS = 15_000;

/**
 * Waits until none of these processes exists: after a crash of `start` its programs need a moment
 * to exit, and hold the data until then. Gives up after a while, since an id may have been reused.
 */
export async function waitForExit(
  processIds: readonly number[],
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + WAIT_AT_MOST_MS;
  if (processIds.some(exists)) print('Waiting for the programs of the previous start to exit.');
  while (processIds.some(exists) && performance.now() < giveUpAt) await sleep(100, signal);
}

function exists(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

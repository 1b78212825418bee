// One program kept running as a process of its own. It is in a process group of its own, so that a Ctrl-C at the terminal
// reaches us alone and programs end in the right order; and it holds a channel to us, so that it ends when we are gone.
// Exit codes: 1 says that another start will not help, anything else that it may.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { backoff, EXIT_FATAL, FatalError, sleep } from '@kasgres/runtime';
import { ProgramOutput } from './program-output.ts';

/** After this long a program counts as having run well, and the next restart is quick again. */
const STEADY_MS = 60_000;
/** Longer than the deadline that programs set themselves. */
const STOP_WITHIN_MS = 30_000;
const OUTPUT_ENDS_WITHIN_MS = 500;

export interface Program {
  name: string;
  /** Path of the TypeScript file to run. */
  path: string;
  args?: string[];
  env?: Record<string, string>;
  /** Gets every line that it prints. */
  onLine?: (line: string) => void;
}

interface Surroundings {
  logPath: string;
  say: (line: string) => void;
  /** Told when the program ended in a way that another start will not help. */
  onHopeless: (failure: FatalError) => void;
  onProcess: () => void;
}

export class SupervisedProgram {
  readonly name: string;
  readonly #program: Program;
  readonly #surroundings: Surroundings;
  readonly #output: ProgramOutput;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #process: ChildProcess | undefined;

  constructor(program: Program, surroundings: Surroundings) {
    this.name = program.name;
    this.#program = program;
    this.#surroundings = surroundings;
    this.#output = new ProgramOutput({
      name: program.name,
      logPath: surroundings.logPath,
      say: surroundings.say,
      onLine: program.onLine,
    });
    this.#ended = this.#keepRunning();
  }

  get processId(): number | undefined {
    return this.#process?.pid;
  }

  /** Asks the program to end and waits for it; ends it by force when it takes too long. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#process?.kill('SIGTERM');
    const late = new AbortController();
    const deadline = this.#endWhenLate(late.signal);
    await this.#ended;
    late.abort();
    await deadline;
  }

  async #endWhenLate(inTime: AbortSignal): Promise<void> {
    try {
      await sleep(STOP_WITHIN_MS, inTime);
    } catch {
      return;
    }
    this.#surroundings.say(`${this.name} did not end in ${STOP_WITHIN_MS / 1000} s and is ended by force`);
    this.endAtOnce();
  }

  /** Ends the program and everything in its process group, now. */
  endAtOnce(): void {
    this.#stopping.abort();
    const id = this.#process?.pid;
    if (id === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? id : -id, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping;
    let delays = restartDelays();
    while (!signal.aborted) {
      const startedAt = performance.now();
      this.#output.forget();
      const exit = await this.#runOnce();
      if (signal.aborted) break;
      const words = this.#output.lastWords();
      if (exit === EXIT_FATAL) {
        this.#surroundings.onHopeless(new FatalError(`${this.name} stopped: ${words || 'it gave no reason'}`));
        break;
      }
      if (performance.now() - startedAt > STEADY_MS) delays = restartDelays();
      const delayMs = delays.next().value;
      this.#surroundings.say(
        `${this.name} ended (${exit})${words && `: ${words}`}; starting it again in ${(delayMs / 1000).toFixed(1)} s`,
      );
      await sleep(delayMs, signal).catch(() => {});
    }
    this.#output.close();
  }

  /** Runs the program to its end: its exit code, or the signal that ended it. */
  async #runOnce(): Promise<number | NodeJS.Signals> {
    const { path, args = [], env = {} } = this.#program;
    const child = spawn(process.execPath, [path, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    this.#process = child;
    if (child.stdout) this.#output.read(child.stdout);
    if (child.stderr) this.#output.read(child.stderr);
    this.#surroundings.onProcess();
    const closed = once(child, 'close').catch(() => {});
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      // What it said last may still be on its way; a process that it left behind must not keep us waiting.
      await Promise.race([closed, sleep(OUTPUT_ENDS_WITHIN_MS)]);
      return code ?? signal ?? EXIT_FATAL;
    } finally {
      this.#process = undefined;
    }
  }
}

function restartDelays(): Iterator<number, number> {
  return backoff({ firstMs: 500, maxMs: 30_000 });
}

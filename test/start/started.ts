/**
 * Runs `npm start` as a person does at a terminal: in a separate process group, from a shell
 * without variables of the tests.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface StartOptions {
  checkout?: string;
  env?: Record<string, string>;
  /** User to run as; the one that runs the tests by default. */
  user?: { uid: number; gid: number };
  /** The command line as a person would type it. */
  command?: readonly [string, ...string[]];
}

export class Started {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #seen = new Map<number, string>();

  constructor({ checkout = ROOT, env = {}, user, command = ['npm', 'start'] }: StartOptions) {
    const [program, ...parameters] = command;
    this.#process = spawn(program, parameters, {
      cwd: checkout,
      env: { ...shellEnv(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...user,
    });
    this.#exited = once(this.#process, 'exit');
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      let rest = '';
      stream?.on('data', (chunk: Buffer) => {
        const parts = (rest + chunk.toString()).split('\n');
        rest = parts.pop() ?? '';
        this.lines.push(...parts);
      });
    }
  }

  get npmProcessId(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('npm was not started');
    return pid;
  }

  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  get output(): string {
    return this.lines.join('\n');
  }

  /** Returns the next line that matches. Fails if the program exits before. */
  async line(pattern: RegExp, withinMs = 120_000): Promise<string> {
    for (const end = Date.now() + withinMs; Date.now() < end; await sleep(50)) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.exitCode !== null) break;
    }
    throw new Error(`no line ${String(pattern)} in:\n${this.output}`);
  }

  /** Waits for the last line of the greeting, and records the processes that exist then. */
  async ready(): Promise<void> {
    await this.line(/^Logs are in /);
    this.#seen = new Map([...this.#seen, ...descendants(this.npmProcessId)]);
  }

  /**
   * The process of `kasgres start` itself, and those of the programs, by a part of their command
   * line.
   */
  processId(part: string): number {
    for (const [id, command] of descendants(this.npmProcessId)) {
      if (command.includes(part) && !command.startsWith('sh -c')) return id;
    }
    throw new Error(`no process ${part} of:\n${[...descendants(this.npmProcessId).values()].join('\n')}`);
  }

  /** Kills everything but Postgres at once, as an operating system without memory may do. */
  killAllButPostgres(): void {
    for (const [id, command] of this.#seen) if (!/^(postgres:|\S*\/postgres -D)/.test(command)) killIfRunning(id);
  }

  /** Sends SIGINT to the whole group, as Ctrl-C at a terminal does. */
  pressCtrlC(): void {
    process.kill(-this.npmProcessId, 'SIGINT');
  }

  async exited(withinMs = 40_000): Promise<void> {
    const end = new AbortController();
    const late = sleep(withinMs, undefined, { signal: end.signal }).then(() => {
      throw new Error(`still running after ${withinMs} ms:\n${this.output}`);
    });
    await Promise.race([this.#exited, late]).finally(() => end.abort());
  }

  /** Waits until no recorded process is left. Returns those that remain after a while. */
  async processesLeft(withinMs = 20_000): Promise<string[]> {
    for (const end = Date.now() + withinMs; ; await sleep(100)) {
      const processes = listProcesses();
      const left = [...this.#seen].filter(([id, command]) => processes.get(id)?.command === command);
      if (left.length === 0 || Date.now() > end) return left.map(([id, command]) => `${id} ${command}`);
    }
  }

  /** Removes everything, even after a failed test. */
  async end(): Promise<void> {
    if (this.exitCode === null && this.#process.signalCode === null) {
      this.pressCtrlC();
      await this.exited();
    }
    for (const line of await this.processesLeft()) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  }
}

/**
 * Returns the environment of a login shell: without variables of npm and Vitest, and with the
 * machine's own Node first.
 */
export function shellEnv(): NodeJS.ProcessEnv {
  const unset = /^(npm_|VITEST|NODE_|TEST$|INIT_CWD$|CI$|HOST$|PORT$|DATA_DIR$|DATABASE_|METRICS_|LOG_LEVEL$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !unset.test(name)));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.endsWith('node_modules/.bin'));
  return { ...env, PATH: path.join(delimiter), npm_config_update_notifier: 'false' };
}

interface Process {
  parent: number;
  command: string;
}

function listProcesses(): Map<number, Process> {
  const text = execFileSync('ps', ['-ww', '-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const processes = new Map<number, Process>();
  for (const line of text.split('\n')) {
    const [, id, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    // A zombie is no longer a process: its parent has not read its exit status yet.
    if (id !== undefined && command !== undefined && !state?.startsWith('Z')) {
      processes.set(Number(id), { parent: Number(parent), command });
    }
  }
  return processes;
}

/** The process and everything below it, with command lines. */
function descendants(root: number): Map<number, string> {
  const processes = listProcesses();
  const found = new Map<number, string>();
  const visit = (id: number): void => {
    const entry = processes.get(id);
    if (entry === undefined || found.has(id)) return;
    found.set(id, entry.command);
    for (const [child, { parent }] of processes) if (parent === id) visit(child);
  };
  visit(root);
  return found;
}

/**
 * Runs a line of the greeting in a shell, and returns its output.
 * @throws with `code` and `stderr` if it fails
 */
export async function paste(line: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: ROOT, env: { ...shellEnv(), ...env } });
  return stdout;
}

/** A program may end by itself when the one that started it is killed. */
function killIfRunning(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * A process of a benchmark that is told what to do by messages, so that its processor time is
 * neither that of the measurement nor that of the programs that are measured.
 */
import { fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { isRunning, killAtExit, stopProcess } from '../test/support/programs.ts';

export class HelperProcess implements AsyncDisposable {
  readonly #name: string;
  readonly #child: ReturnType<typeof fork>;

  /** @param file relative to this directory */
  constructor(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = process.env) {
    this.#name = file;
    this.#child = fork(new URL(file, import.meta.url), args, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    killAtExit(this.#child);
  }

  send(message: Serializable): void {
    this.#child.send(message);
  }

  /**
   * Returns the next message.
   * @throws Error if the process exits before, or if there is none within this time
   */
  async receive<Message>(withinMs?: number): Promise<Message> {
    const options = withinMs === undefined ? {} : { signal: AbortSignal.timeout(withinMs) };
    const [message] = (await Promise.race([
      once(this.#child, 'message', options),
      once(this.#child, 'exit', options),
    ])) as [Message];
    this.requireRunning();
    return message;
  }

  /** @throws Error if the process has exited */
  requireRunning(): void {
    const { exitCode, signalCode } = this.#child;
    if (!isRunning(this.#child)) throw new Error(`${this.#name} exited: ${exitCode ?? signalCode}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stopProcess(this.#child, 'SIGTERM');
  }
}

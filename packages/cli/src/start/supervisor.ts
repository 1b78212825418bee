// The programs of one start: begun in order, ended in the opposite order.

import { join } from 'node:path';
import { SupervisedProgram } from './supervised-program.ts';
import type { Program } from './supervised-program.ts';

export class Supervisor {
  readonly #logs: string;
  readonly #say: (line: string) => void;
  readonly #programs: SupervisedProgram[] = [];
  readonly #hopeless = new AbortController();
  /** Called when a program has got a process, also a new one. */
  onProcess: () => void = () => {};

  constructor(logs: string, say: (line: string) => void) {
    this.#logs = logs;
    this.#say = say;
  }

  /** Aborted, with the reason in words, when a program ended and another start of it will not help. */
  get hopeless(): AbortSignal {
    return this.#hopeless.signal;
  }

  start(program: Program): void {
    this.#programs.push(
      new SupervisedProgram(program, {
        logPath: join(this.#logs, `${program.name}.log`),
        say: this.#say,
        onHopeless: (reason) => this.#hopeless.abort(reason),
        onProcess: () => this.onProcess(),
      }),
    );
  }

  processIds(): number[] {
    return this.#programs.flatMap((program) => program.processId ?? []);
  }

  /** Ends the programs one after another, the last begun first. */
  async stop(): Promise<void> {
    for (const program of this.#programs.toReversed()) await program.stop();
  }

  endAtOnce(): void {
    for (const program of this.#programs) program.endAtOnce();
  }
}

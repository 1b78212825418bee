/**
 * Runs `main`, stops it on SIGINT, SIGTERM or when the parent process is gone, and closes resources
 * before a deadline. The exit code tells whether a restart may help.
 */
import type { Logger } from './logger.ts';
import { isAbortError } from './sleep.ts';

export const EXIT_CLEAN = 0;
/** A restart will not help: the configuration or the data must change first. */
export const EXIT_FATAL = 1;
/** A restart may help (EX_TEMPFAIL of sysexits.h). */
export const EXIT_RETRYABLE = 75;

/**
 * Stops the program with exit code 1, so that a supervisor does not restart it. The message is for
 * the operator.
 */
export class FatalError extends Error {
  override readonly name: string = 'FatalError';
}

export interface Program {
  /** Aborted when the program is to stop; `main` then returns, or throws an `AbortError`. */
  signal: AbortSignal;
  /** Resources to close after `main` has finished. */
  shutdown: Shutdown;
  /** Stops the program from within; with an error, as if `main` had thrown it. */
  stop: (error?: unknown) => void;
  /**
   * Sets the logger that reports the end of the program; without one, reports go to standard error.
   */
  useLogger: (logger: Logger) => void;
}

export interface RunProgramOptions {
  /** Time for `main` and the closing together once a stop was requested, in milliseconds. */
  deadlineMs?: number;
}

/** Runs a program until it finishes and exits the process. */
export async function runProgram(
  name: string,
  main: (program: Program) => Promise<void>,
  { deadlineMs = 25_000 }: RunProgramOptions = {},
): Promise<never> {
  const controller = new AbortController();
  const shutdown = new Shutdown();
  let logger: Logger | undefined;
  let failure: { error: unknown } | undefined;

  const { promise: stopped, resolve: onStopped } = Promise.withResolvers<void>();
  const stop = (reason: string): void => {
    if (controller.signal.aborted) return;
    logger?.info({ reason }, 'stopping');
    setTimeout(() => {
      report(name, logger, `gave up closing ${shutdown.closing ?? 'the program'} after ${deadlineMs} ms`);
      process.exit(EXIT_RETRYABLE);
    }, deadlineMs).unref();
    controller.abort();
    onStopped();
  };
  const fail = (error: unknown): void => {
    failure ??= { error };
    stop('failed');
  };
  listenForStop(stop, fail);
  // Signal handlers do not keep a process alive: Node would exit while `main` only waits for its
  // signal.
  setInterval(() => {}, 2 ** 30);

  const program: Program = {
    signal: controller.signal,
    shutdown,
    stop: (error) => (error === undefined ? stop('requested') : fail(error)),
    useLogger: (given) => {
      logger = given;
    },
  };
  const running = main(program).then(
    () => stop('finished'),
    (error: unknown) => {
      if (!(controller.signal.aborted && isAbortError(error))) fail(error);
    },
  );
  await stopped;
  await running;

  for (const problem of await shutdown.close()) report(name, logger, `could not close ${problem.name}`, problem.error);
  if (failure === undefined) process.exit(EXIT_CLEAN);
  const code = exitCodeOf(failure.error);
  report(name, logger, code === EXIT_FATAL ? 'stopped permanently' : 'failed', failure.error);
  process.exit(code);
}

export function exitCodeOf(error: unknown): typeof EXIT_FATAL | typeof EXIT_RETRYABLE {
  return error instanceof FatalError ? EXIT_FATAL : EXIT_RETRYABLE;
}

function listenForStop(stop: (reason: string) => void, fail: (error: unknown) => void): void {
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    // A second Ctrl-C skips the orderly shutdown; shells report 130 for an interrupted program.
    if (interrupts > 1) process.exit(130);
    stop('SIGINT');
  });
  process.on('SIGTERM', () => stop('SIGTERM'));
  // The reader of standard output may exit before this process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  if (process.channel) {
    // A parent that was killed sends no signal, but its end of the channel closes.
    process.on('disconnect', () => stop('the parent process is gone'));
    process.channel.unref();
  }
}

/** Reports errors for the operator by their message, others with their stack. */
function report(name: string, logger: Logger | undefined, message: string, error?: unknown): void {
  if (logger !== undefined) {
    if (error instanceof FatalError) logger.fatal(`${message}: ${error.message}`);
    else logger.fatal({ err: error }, message);
    return;
  }
  const details = error instanceof Error && !(error instanceof FatalError) ? error.stack : undefined;
  const text = details ?? (error instanceof Error ? error.message : String(error));
  process.stderr.write(`${name}: ${error === undefined ? message : text}\n`);
}

export interface ShutdownProblem {
  name: string;
  error: unknown;
}

/**
 * The resources of a program, closed one after another in reverse order of registration. A failure
 * does not stop the rest.
 */
export class Shutdown {
  readonly #resources: { name: string; close: () => unknown }[] = [];
  /** The resource that is being closed, for the report at the deadline. */
  closing: string | undefined;

  add(name: string, close: () => unknown): void {
    this.#resources.push({ name, close });
  }

  /** Closes everything. Never rejects; returns the failures. */
  async close(): Promise<ShutdownProblem[]> {
    const problems: ShutdownProblem[] = [];
    for (let resource = this.#resources.pop(); resource !== undefined; resource = this.#resources.pop()) {
      this.closing = resource.name;
      try {
        await resource.close();
      } catch (error) {
        problems.push({ name: resource.name, error });
      }
    }
    this.closing = undefined;
    return problems;
  }
}

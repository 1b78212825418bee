/**
 * The life of a process: runs `main`, ends it on SIGINT, SIGTERM or when the parent that started it is gone, closes what was
 * opened under a deadline, and tells by the exit code whether starting again may help.
 */
import { EnvError } from './env.ts';
import { FatalError } from './errors.ts';
import type { Logger } from './logger.ts';
import { Shutdown } from './shutdown.ts';
import { isAbortError } from './sleep.ts';

export const EXIT_CLEAN = 0;
/** Starting again will not help: the configuration or the data must change first. */
export const EXIT_FATAL = 1;
/** Starting again may help (EX_TEMPFAIL of sysexits.h). */
export const EXIT_RETRYABLE = 75;

export interface Program {
  /** Aborted when the program is to end; `main` then returns, or throws an `AbortError`. */
  signal: AbortSignal;
  /** What to close after `main` has ended. */
  shutdown: Shutdown;
  /** Ends the program from within; with an error, as if `main` had thrown it. */
  stop: (error?: unknown) => void;
  /** Gives the program a logger for its last words; before that they go to standard error. */
  useLogger: (logger: Logger) => void;
}

export interface RunProgramOptions {
  /** How long `main` and the closing may take together once the end was asked for, in milliseconds. */
  deadlineMs?: number;
}

/** Runs a program to its end and exits the process. */
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
  listenForTheEnd(stop, fail);
  // Signal handlers do not keep a process alive: a `main` that only waits for its end would be ended by Node.
  setInterval(() => {}, 2 ** 30);

  const program: Program = {
    signal: controller.signal,
    shutdown,
    stop: (error) => (error === undefined ? stop('asked to') : fail(error)),
    useLogger: (given) => {
      logger = given;
    },
  };
  const running = main(program).then(
    () => stop('done'),
    (error: unknown) => {
      if (!(controller.signal.aborted && isAbortError(error))) fail(error);
    },
  );
  await stopped;
  await running;

  for (const problem of await shutdown.close()) report(name, logger, `could not close ${problem.name}`, problem.error);
  if (failure === undefined) process.exit(EXIT_CLEAN);
  const code = exitCodeOf(failure.error);
  report(name, logger, code === EXIT_FATAL ? 'stopped for good' : 'failed', failure.error);
  process.exit(code);
}

/** Which exit code an error asks for. */
export function exitCodeOf(error: unknown): typeof EXIT_FATAL | typeof EXIT_RETRYABLE {
  return error instanceof FatalError || error instanceof EnvError ? EXIT_FATAL : EXIT_RETRYABLE;
}

function listenForTheEnd(stop: (reason: string) => void, fail: (error: unknown) => void): void {
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    // A second Ctrl-C is a person who does not want to wait: 130 is what a shell reports for it.
    if (interrupts > 1) process.exit(130);
    stop('SIGINT');
  });
  process.on('SIGTERM', () => stop('SIGTERM'));
  // Whoever reads what we say may go away before us.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  if (process.channel) {
    // A parent that was killed cannot pass a signal on; its end of the channel closes all the same.
    process.on('disconnect', () => stop('the parent process is gone'));
    process.channel.unref();
  }
}

/** Errors that are meant for the operator are told by their message, others with their stack. */
function report(name: string, logger: Logger | undefined, message: string, error?: unknown): void {
  const isForOperator = error instanceof FatalError || error instanceof EnvError;
  if (logger !== undefined) {
    if (isForOperator) logger.fatal(`${message}: ${error.message}`);
    else logger.fatal({ err: error }, message);
    return;
  }
  const details = isForOperator ? error.message : error instanceof Error ? (error.stack ?? error.message) : error;
  process.stderr.write(`${name}: ${error === undefined ? message : String(details)}\n`);
}

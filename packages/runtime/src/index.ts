/** Parts that every program needs and that do not depend on Kaspa. */
export { type DatabaseAddress, libpqUrl, readDatabaseUrl } from './database-url.ts';
export {
  documentEnv,
  EnvError,
  type EnvSchema,
  findValue,
  parsed,
  postgresUrl,
  printEnvProblems,
  readEnv,
} from './env.ts';
export { readFileLimit } from './file-limit.ts';
export { toListenError } from './listen-error.ts';
export { LineLimit } from './line-limit.ts';
export { isLockHeld, takeLock } from './lock.ts';
export { createLogger, LOG_LEVELS, type Logger, type LoggerOptions, type LogLevel } from './logger.ts';
export { makeFolder } from './make-folder.ts';
export {
  AggregatorRegistry,
  Counter,
  createRegistry,
  Gauge,
  Histogram,
  type Metrics,
  type Probes,
  type ProbesOptions,
  type Readiness,
  Registry,
  startProbes,
} from './probes.ts';
export {
  EXIT_CLEAN,
  EXIT_FATAL,
  EXIT_RETRYABLE,
  exitCodeOf,
  FatalError,
  type Program,
  type RunProgramOptions,
  runProgram,
  Shutdown,
  type ShutdownProblem,
} from './run-program.ts';
export { retry, type RetryOptions } from './retry.ts';
export { backoff, type BackoffOptions, isAbortError, sleep, untilAborted } from './sleep.ts';
export { VERSION } from './version.ts';

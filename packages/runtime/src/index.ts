/** What every program of ours needs and that knows nothing of Kaspa. */
export { type BackoffOptions, backoff } from './backoff.ts';
export { documentEnv, EnvError, type EnvSchema, parsed, postgresUrl, readEnv } from './env.ts';
export { FatalError } from './errors.ts';
export { createLogger, LOG_LEVELS, type Logger, type LoggerOptions, type LogLevel, redactUrl } from './logger.ts';
export { Counter, createRegistry, Gauge, Histogram, Registry } from './metrics.ts';
export { type Probes, type ProbesOptions, type Readiness, startProbes } from './probes.ts';
export {
  EXIT_CLEAN,
  EXIT_FATAL,
  EXIT_RETRYABLE,
  exitCodeOf,
  type Program,
  type RunProgramOptions,
  runProgram,
} from './run-program.ts';
export { Shutdown, type ShutdownProblem } from './shutdown.ts';
export { isAbortError, sleep, untilAborted } from './sleep.ts';

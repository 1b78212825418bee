/**
 * Loggers of requests, which add the id of the request to each line. A child of the logger is created with its first line, since most requests
 * have only that of access-log.ts.
 */
import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify';

/** The name that Fastify gives the id. */
export const REQUEST_ID_FIELD = 'reqId';

type Line = Parameters<FastifyBaseLogger['info']>;

/** Creates the logger of a request. */
export const createLazily: NonNullable<FastifyServerOptions['childLoggerFactory']> = (logger, bindings, options) =>
  new LazyLogger(() => logger.child(bindings, options));

class LazyLogger implements FastifyBaseLogger {
  readonly #create: () => FastifyBaseLogger;
  #created: FastifyBaseLogger | undefined;

  constructor(create: () => FastifyBaseLogger) {
    this.#create = create;
  }

  get level(): string {
    return this.#child.level;
  }

  set level(level: string) {
    this.#child.level = level;
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#child.child(...given);
  }

  fatal(...line: Line): void {
    this.#child.fatal(...line);
  }

  error(...line: Line): void {
    this.#child.error(...line);
  }

  warn(...line: Line): void {
    this.#child.warn(...line);
  }

  info(...line: Line): void {
    this.#child.info(...line);
  }

  debug(...line: Line): void {
    this.#child.debug(...line);
  }

  trace(...line: Line): void {
    this.#child.trace(...line);
  }

  silent(): void {}

  get #child(): FastifyBaseLogger {
    this.#created ??= this.#create();
    return this.#created;
  }
}

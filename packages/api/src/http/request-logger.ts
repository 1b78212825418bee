/**
 * Loggers of requests, which add the id of the request to each line. A child of the logger is
 * created with its first line, since most requests have only that of access-log.ts.
 */
import type { FastifyBaseLogger } from 'fastify';

/** The name that Fastify gives the id. */
export const REQUEST_ID_FIELD = 'reqId';

type Line = Parameters<FastifyBaseLogger['info']>;

/**
 * Creates its logger for the first line. Its children do the same: Fastify makes one for each
 * request.
 */
export class LazyLogger implements FastifyBaseLogger {
  readonly #create: () => FastifyBaseLogger;
  #created: FastifyBaseLogger | undefined;

  constructor(create: () => FastifyBaseLogger) {
    this.#create = create;
  }

  get level(): string {
    return this.#logger.level;
  }

  set level(level: string) {
    this.#logger.level = level;
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return new LazyLogger(() => this.#logger.child(...given));
  }

  fatal(...line: Line): void {
    this.#logger.fatal(...line);
  }

  error(...line: Line): void {
    this.#logger.error(...line);
  }

  warn(...line: Line): void {
    this.#logger.warn(...line);
  }

  info(...line: Line): void {
    this.#logger.info(...line);
  }

  debug(...line: Line): void {
    this.#logger.debug(...line);
  }

  trace(...line: Line): void {
    this.#logger.trace(...line);
  }

  silent(): void {}

  get #logger(): FastifyBaseLogger {
    this.#created ??= this.#create();
    return this.#created;
  }
}

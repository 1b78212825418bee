/** Messages between the primary process and its workers, as JSON. */

/** Topics that the primary process reads from a worker. */
export type Topic = 'metrics' | 'ready';

export interface ToPrimary {
  /** The reply to `get`. */
  got?: { id: number; value: unknown };
  /** The message of a FatalError, which ends the program. */
  fatal?: string;
}

export interface ToWorker {
  get: { id: number; topic: Topic };
}

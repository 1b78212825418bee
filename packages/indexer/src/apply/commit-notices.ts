/**
 * Tells listeners of commits, over another connection and after the commit. Anybody who may connect
 * can fill the queue of notifications, and a commit that sends one would then fail. A notification
 * that is late or lost costs latency only, since listeners poll, too.
 */
import { notifyStatement } from '@kasgres/database';
import type { Logger } from '@kasgres/runtime';
import type { Pool } from 'pg';

const WARN_EVERY_MS = 60_000;

export class CommitNotices {
  readonly #pool: Pick<Pool, 'query'>;
  readonly #log: Logger;
  #isDue = false;
  #isSending = false;
  #warnAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pick<Pool, 'query'>, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /**
   * Must be called after each commit that moves the checkpoint. Nothing waits for it; commits
   * during a notification share the next.
   */
  send(): void {
    this.#isDue = true;
    if (!this.#isSending) void this.#sendDue();
  }

  async #sendDue(): Promise<void> {
    this.#isSending = true;
    while (this.#isDue) {
      this.#isDue = false;
      await this.#pool.query(notifyStatement('commits')).catch((error: unknown) => this.#warn(error));
    }
    this.#isSending = false;
  }

  #warn(error: unknown): void {
    const now = performance.now();
    if (now < this.#warnAt) return;
    this.#warnAt = now + WARN_EVERY_MS;
    this.#log.warn({ err: error }, 'could not notify listeners of commits; they poll every second');
  }
}

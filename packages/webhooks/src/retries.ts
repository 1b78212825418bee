/** When to try again, after a failure of this program and not of a receiver. */
import { retryPause } from './queue.ts';

/** A failure may delay the others by the time limit of a statement at each retry. */
const MAX_PAUSE_MS = 60_000;

interface Failed {
  failures: number;
  /** By performance.now(), like `retryAt`. */
  since: number;
  retryAt: number;
}

export class Retries<Name> {
  readonly #failed = new Map<Name, Failed>();

  isPaused(name: Name): boolean {
    const { retryAt = 0 } = this.#failed.get(name) ?? {};
    return retryAt > performance.now();
  }

  /** When the oldest failure began that lasts, by performance.now(). */
  get since(): number | undefined {
    // In the order in which they first failed.
    const [oldest] = this.#failed.values();
    return oldest?.since;
  }

  /** Returns the pause before the next retry, in milliseconds. */
  fail(name: Name): number {
    const now = performance.now();
    const { failures: before = 0, since = now } = this.#failed.get(name) ?? {};
    const failures = before + 1;
    const pauseMs = Math.min(retryPause(failures), MAX_PAUSE_MS);
    this.#failed.set(name, { failures, since, retryAt: now + pauseMs });
    return pauseMs;
  }

  succeed(name: Name): void {
    this.#failed.delete(name);
  }

  forgetAllBut(names: ReadonlySet<Name>): void {
    for (const name of this.#failed.keys()) if (!names.has(name)) this.#failed.delete(name);
  }
}

/**
 * Runs what waits for a share of each turn of the event loop, so that everything else continues
 * meanwhile.
 */

interface TurnShareOptions {
  /**
   * A share of the time since the turn before: a turn is long if there is much else to do, or other
   * programs use the processor.
   */
  share: number;
  minMs: number;
  maxMs: number;
  /** Runs the next one. Returns whether more wait. */
  runNext: () => boolean;
}

/** How many run in a turn at most. */
const MAX_PER_TURN = 64;

export class TurnShare {
  readonly #options: TurnShareOptions;
  #isScheduled = false;
  #hasMore = false;

  constructor(options: TurnShareOptions) {
    this.#options = options;
  }

  /**
   * Must be called when something has begun to wait. Each runs in a separate callback, so that what
   * it resolves continues before the next one.
   */
  schedule(): void {
    this.#hasMore = true;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { share, minMs, maxMs, runNext } = this.#options;
    const scheduledAt = performance.now();
    let endsAt: number | undefined;
    for (let count = 0; count < MAX_PER_TURN; count += 1) {
      setImmediate(() => {
        const now = performance.now();
        endsAt ??= now + Math.min(Math.max((now - scheduledAt) * share, minMs), maxMs);
        if (this.#hasMore && now < endsAt) this.#hasMore = runNext();
      });
    }
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#hasMore) this.schedule();
    });
  }
}

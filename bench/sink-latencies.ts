/**
 * Times from the node's notification of a sink to the first response that shows it or a later one.
 */
export class SinkLatencies {
  /** Milliseconds. */
  readonly times: number[] = [];
  readonly #positions = new Map<string, number>();
  readonly #notifiedAt: number[] = [];
  /** Sinks that a response showed before their notification arrived here. */
  readonly #shownAt = new Map<string, number>();
  /** The number of notifications that are shown, or that preceded a shown one. */
  #shown = 0;
  #counted = Number.POSITIVE_INFINITY;

  /** The number of counted notifications that no response has shown yet. */
  get pending(): number {
    return Math.max(0, Math.min(this.#counted, this.#notifiedAt.length) - this.#shown);
  }

  /**
   * Counts no further notifications. They must still be passed on, since responses may skip the
   * last counted one.
   */
  stopCounting(): void {
    this.#counted = Math.min(this.#counted, this.#notifiedAt.length);
  }

  notified(sink: string, at: number): void {
    this.#positions.set(sink, this.#notifiedAt.length);
    this.#notifiedAt.push(at);
    const shownAt = this.#shownAt.get(sink);
    if (shownAt !== undefined) this.shown(sink, shownAt);
  }

  shown(sink: string, at: number): void {
    const position = this.#positions.get(sink);
    if (position === undefined) {
      if (!this.#shownAt.has(sink)) this.#shownAt.set(sink, at);
      return;
    }
    for (; this.#shown <= position; this.#shown += 1) {
      if (this.#shown < this.#counted) this.times.push(Math.max(0, at - (this.#notifiedAt[this.#shown] ?? at)));
    }
  }
}

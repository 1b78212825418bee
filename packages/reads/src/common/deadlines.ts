/**
 * Bounds how long items stay, all for the same time. One timer serves them all: a timer for each
 * would be a large part of the cost of a small request.
 */
import { type Item, LinkedList } from './linked-list.ts';

interface Pending<Subject> {
  subject: Subject;
  /** By performance.now(). */
  dueAt: number;
}

export type Deadline<Subject> = Item<Pending<Subject>>;

export class Deadlines<Subject> {
  readonly #limitMs: number;
  readonly #onPassed: (subject: Subject) => void;
  /** The earliest first. */
  readonly #pending = new LinkedList<Pending<Subject>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onPassed is called after `limitMs`, unless the deadline was removed */
  constructor(limitMs: number, onPassed: (subject: Subject) => void) {
    this.#limitMs = limitMs;
    this.#onPassed = onPassed;
  }

  add(subject: Subject): Deadline<Subject> {
    if (this.#timer === undefined) this.#timer = this.#checkAfter(this.#limitMs);
    return this.#pending.add({ subject, dueAt: performance.now() + this.#limitMs });
  }

  remove(deadline: Deadline<Subject>): void {
    this.#pending.remove(deadline);
  }

  #checkAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#check(), milliseconds).unref();
  }

  #check(): void {
    const now = performance.now();
    try {
      for (let next = this.#pending.first; next !== undefined && next.value.dueAt <= now; next = this.#pending.first) {
        this.#pending.remove(next);
        this.#onPassed(next.value.subject);
      }
    } finally {
      const { first } = this.#pending;
      this.#timer = first && this.#checkAfter(first.value.dueAt - now);
    }
  }
}

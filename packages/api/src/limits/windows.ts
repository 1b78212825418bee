/**
 * Windows of rate limits: counted in this process, or in the database for all API processes
 * (postgres-windows.ts).
 */
import { type Awaitable } from '@kasgres/reads';

export interface WindowLimit {
  hundredths: number;
  seconds: number;
}

/** The window after a request, whether it was charged or not. */
export interface WindowState {
  charged: boolean;
  remaining: number;
  /** Identifies the window within its bucket. */
  window: number;
  endsInMs: number;
}

/** A window opens with the first charge after the last one has closed. */
export interface Windows {
  /**
   * Charges a cost if the window has that much left, in one atomic step.
   * @throws HttpError 503 if the store is unavailable: nothing is admitted uncounted
   */
  charge(bucket: string, limit: WindowLimit, cost: number): Awaitable<WindowState>;
  /** Refunds a charge, at most once. Has no effect if the window has closed since. */
  refund(bucket: string, window: number, cost: number): void;
}

const SWEEP_EVERY_MS = 60_000;

export class MemoryWindows implements Windows {
  readonly #windows = new Map<string, { spent: number; endsAt: number }>();
  #nextSweepAt = 0;

  charge(bucket: string, limit: WindowLimit, cost: number): WindowState {
    const now = performance.now();
    this.#sweep(now);
    const known = this.#windows.get(bucket);
    const isOpen = known !== undefined && known.endsAt > now;
    const durationMs = limit.seconds * 1000;
    const window = isOpen ? known : { spent: 0, endsAt: now + durationMs };
    const charged = window.spent + cost <= limit.hundredths;
    if (charged) {
      window.spent += cost;
      this.#windows.set(bucket, window);
    }
    const remaining = Math.max(limit.hundredths - window.spent, 0);
    // The difference of the times of a new window may round to more than the duration.
    return { charged, remaining, window: window.endsAt, endsInMs: isOpen ? window.endsAt - now : durationMs };
  }

  refund(bucket: string, window: number, cost: number): void {
    const current = this.#windows.get(bucket);
    if (current?.endsAt === window) current.spent -= cost;
  }

  #sweep(now: number): void {
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + SWEEP_EVERY_MS;
    for (const [bucket, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(bucket);
  }
}

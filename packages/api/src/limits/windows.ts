/** Windows of rate limits: counted in this process, or in the database for all API processes (postgres-windows.ts). */

/** Limits a window to hundredths of a request unit. */
export interface WindowLimit {
  hundredths: number;
  seconds: number;
}

/** The window after a request, whether it was charged or not. */
export interface WindowState {
  charged: boolean;
  /** Hundredths that are left. */
  remaining: number;
  /** Identifies the window within its bucket; undefined while none is open. */
  window: number | undefined;
  endsInMs: number;
}

/** A window opens with the first charge after the last one has closed. */
export interface Windows {
  /**
   * Charges a cost if the window has that much left, in one atomic step.
   * @throws HttpError 503 if the store is unavailable: nothing is admitted uncounted
   */
  charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState>;
  /** Refunds a charge, at most once. Has no effect if the window has closed since. */
  refund(bucket: string, window: number, cost: number): void;
}

interface Window {
  spent: number;
  endsAt: number;
}

const SWEEP_EVERY_MS = 60_000;

export class MemoryWindows implements Windows {
  readonly #windows = new Map<string, Window>();
  #nextSweepAt = 0;

  async charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState> {
    const now = performance.now();
    this.#sweep(now);
    const current = this.#windows.get(bucket);
    const open = current !== undefined && current.endsAt > now ? current : undefined;
    const charged = (open?.spent ?? 0) + cost <= limit.hundredths;
    if (!charged && open === undefined) {
      return { charged, remaining: limit.hundredths, window: undefined, endsInMs: limit.seconds * 1000 };
    }
    const window = open ?? { spent: 0, endsAt: now + limit.seconds * 1000 };
    if (charged) {
      window.spent += cost;
      this.#windows.set(bucket, window);
    }
    const remaining = Math.max(limit.hundredths - window.spent, 0);
    return { charged, remaining, window: window.endsAt, endsInMs: window.endsAt - now };
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

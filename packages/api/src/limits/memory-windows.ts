/** Windows of this process alone. */
import type { WindowLimit, Windows, WindowState } from './windows.ts';

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
    const running = current !== undefined && current.endsAt > now ? current : undefined;
    const spent = running?.spent ?? 0;
    const charged = spent + cost <= limit.hundredths;
    if (!charged && running === undefined) {
      return { charged, remaining: limit.hundredths, window: undefined, endsInMs: limit.seconds * 1000 };
    }
    const window = running ?? { spent, endsAt: now + limit.seconds * 1000 };
    if (charged) {
      window.spent += cost;
      this.#windows.set(bucket, window);
    }
    const remaining = Math.max(limit.hundredths - window.spent, 0);
    return { charged, remaining, window: window.endsAt, endsInMs: window.endsAt - now };
  }

  giveBack(bucket: string, window: number, cost: number): void {
    const current = this.#windows.get(bucket);
    if (current?.endsAt === window) current.spent -= cost;
  }

  /** Forgets the windows that have ended. */
  #sweep(now: number): void {
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + SWEEP_EVERY_MS;
    for (const [bucket, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(bucket);
  }
}

import { getOrInsert, type TransactionDeltas } from '../../state-changes.ts';

const HOUR_MS = 3_600_000n;

/**
 * Returns Unix hours. Timestamps of blocks may decrease, which would give negative running
 * balances.
 * @param chainTime Unix milliseconds
 */
export function hourOf(chainTime: bigint): number {
  return Number(chainTime / HOUR_MS);
}

/** `last_change_hour` (Unix hours) and `last_change` (sompi) of a row of `balances`. */
export interface LastChange {
  hour: number;
  change: bigint;
}

export const NEVER_CHANGED: LastChange = { hour: 0, change: 0n };

export interface HourlyChange {
  script: number;
  /** Unix hours. */
  hour: number;
  /** In sompi. */
  change: bigint;
}

export class HourlyDeltas {
  readonly #hours = new Map<number, Map<number, bigint>>();
  /**
   * Set by `settle`: the latest changes of those scripts whose latest change is another one now.
   */
  last: ReadonlyMap<number, LastChange> = new Map();
  /** Set by `settle`: what is added to earlier hours. */
  earlier: readonly HourlyChange[] = [];

  /** @param sign 1 for an accepted transaction, −1 for one of a removed chain block */
  add({ chainBlock, deltas }: Pick<TransactionDeltas, 'chainBlock' | 'deltas'>, sign: 1 | -1): void {
    const hour = hourOf(chainBlock.chainTime);
    for (const [script, { sent, received }] of deltas) this.#change(script, hour, BigInt(sign) * (received - sent));
  }

  /**
   * Divides the changes into those of the latest hour of each script and those of earlier hours.
   * @param stored the latest ones before the batch
   */
  settle(stored: ReadonlyMap<number, { lastChange: LastChange }>): void {
    const last = new Map<number, LastChange>();
    const earlier = new HourlyDeltas();
    for (const { script, hour, change } of this.rows().reverse()) {
      const { lastChange: before = NEVER_CHANGED } = stored.get(script) ?? {};
      if (!last.has(script) && hour > before.hour) {
        last.set(script, { hour, change });
        earlier.#change(script, before.hour, before.change);
        continue;
      }
      const latest = last.get(script) ?? before;
      if (hour === latest.hour) last.set(script, { hour, change: latest.change + change });
      else earlier.#change(script, hour, change);
    }
    this.last = last;
    this.earlier = earlier.rows();
  }

  /** Returns the changes other than 0, by script and hour. */
  rows(): HourlyChange[] {
    return [...this.#hours]
      .flatMap(([hour, scripts]) => [...scripts].map(([script, change]) => ({ script, hour, change })))
      .filter(({ change }) => change !== 0n)
      .sort((one, other) => one.script - other.script || one.hour - other.hour);
  }

  #change(script: number, hour: number, change: bigint): void {
    const scripts = getOrInsert(this.#hours, hour, () => new Map());
    scripts.set(script, (scripts.get(script) ?? 0n) + change);
  }
}

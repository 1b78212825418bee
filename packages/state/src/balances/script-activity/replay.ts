/**
 * A script counts once in each interval, with the first chain block that touches it. UTXOs at a
 * bootstrap block make it seen, not active.
 */
import type { LastChange } from '../hourly-changes/hourly-deltas.ts';
import { type IntervalLength, LENGTHS, startOfInterval } from '../../network-intervals/intervals.ts';

/** Times of chain blocks, Unix milliseconds; null means never. */
export interface ScriptActivity {
  first: bigint | null;
  last: bigint | null;
  /** Like `last`, but null if the script was only seen at a bootstrap block. */
  touched: bigint | null;
}

/** The columns of `balances` that a batch reads for each script that it touches. */
export interface StoredActivity extends ScriptActivity {
  /**
   * Number of accepted transactions that touch the script. Without any, it was only seen at a
   * bootstrap block.
   */
  accepted: bigint;
  lastChange: LastChange;
}

export const NEVER_SEEN: ScriptActivity = { first: null, last: null, touched: null };

export interface TouchingBlock {
  index: number;
  chainTime: bigint;
  scripts: Set<number>;
}

export interface ActiveScripts {
  active: Record<IntervalLength, number>;
  new: number;
}

export interface SeenBefore {
  chainIndex: number;
  scripts: number[];
  lastSeen: (bigint | null)[];
}

export class ScriptActivityChanges {
  readonly added: TouchingBlock[] = [];
  removed: readonly TouchingBlock[] = [];
  /** By script, how many transactions of the removed blocks touch it. */
  readonly removedTouches = new Map<number, number>();
  /** Set by `read`, for each of `added` and of `removed`. */
  addedCounts: ActiveScripts[] = [];
  removedCounts: ActiveScripts[] = [];
  after: ReadonlyMap<number, ScriptActivity> = new Map();
  /** Set by `read`, for the scripts of the batch. */
  stored: ReadonlyMap<number, StoredActivity> = new Map();
  /** Set by `read`. */
  seenBefore: readonly SeenBefore[] = [];
}

/**
 * @param blocks in the order of the chain
 * @param before activity below the first of them; absent scripts were never seen
 */
export function replay(blocks: readonly TouchingBlock[], before: ReadonlyMap<number, ScriptActivity>) {
  const after = new Map<number, ScriptActivity>();
  const counts: ActiveScripts[] = [];
  const seenBefore: SeenBefore[] = [];
  for (const { index, chainTime, scripts } of blocks) {
    const count: ActiveScripts = { active: { minute: 0, hour: 0, day: 0 }, new: 0 };
    const row: SeenBefore = { chainIndex: index, scripts: [], lastSeen: [] };
    const starts = LENGTHS.map((length) => startOfInterval(length, chainTime));
    for (const script of scripts) {
      const { first, last, touched } = after.get(script) ?? before.get(script) ?? NEVER_SEEN;
      for (const [i, length] of LENGTHS.entries()) {
        if (touched === null || touched < (starts[i] as bigint)) count.active[length] += 1;
      }
      if (last === null) count.new += 1;
      row.scripts.push(script);
      row.lastSeen.push(last);
      after.set(script, { first: first ?? chainTime, last: chainTime, touched: chainTime });
    }
    counts.push(count);
    seenBefore.push(row);
  }
  return { counts, seenBefore, after };
}

/**
 * @param now activity at the top of the removed blocks
 * @param rows their rows of `seen_before`, from the top downwards
 */
export function rewind(
  now: ReadonlyMap<number, ScriptActivity>,
  rows: readonly SeenBefore[],
): Map<number, ScriptActivity> {
  const before = new Map(now);
  for (const { scripts, lastSeen } of rows) {
    scripts.forEach((script, i) => {
      const last = lastSeen[i] ?? null;
      before.set(script, last === null ? NEVER_SEEN : { first: now.get(script)?.first ?? null, last, touched: last });
    });
  }
  return before;
}

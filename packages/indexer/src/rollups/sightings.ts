/**
 * When scripts were seen, chain block by chain block. A script is active in an interval of the chain when a transaction touches it there, and
 * counts there once: with the block that touches it first, before which it was touched before the interval, or never. What it held at a
 * start before anything touched it is a sighting too, but touches nothing.
 */
import type { ChainBlockTotals } from './chain-block-totals.ts';
import { INTERVAL_LENGTHS, type IntervalLength, startOfInterval } from './intervals.ts';

/** Times of chain blocks, Unix milliseconds; null: never. */
export interface Sighting {
  first: bigint | null;
  last: bigint | null;
  /** As `last`, but null when nothing touched the script and it was seen at a start; where that lies in no interval at hand, `last` does as well. */
  touched: bigint | null;
}

export const UNSEEN: Sighting = { first: null, last: null, touched: null };

/** What a chain block adds to its intervals. */
export interface Activity {
  active: Record<IntervalLength, number>;
  new: number;
}

/** A row of `seen_before`. */
export interface SeenBefore {
  chainIndex: number;
  scripts: number[];
  lastSeen: (bigint | null)[];
}

export interface Replay {
  /** One for each block. */
  activities: Activity[];
  seenBefore: SeenBefore[];
  /** Of every script that the blocks touch, after the last of them. */
  sightings: Map<number, Sighting>;
}

const LENGTHS = Object.keys(INTERVAL_LENGTHS) as IntervalLength[];

/** @param blocks in the order of the chain @param before sightings below the first of them; scripts that are not there are UNSEEN */
export function replay(
  blocks: readonly Pick<ChainBlockTotals, 'index' | 'chainTime' | 'scripts'>[],
  before: ReadonlyMap<number, Sighting>,
): Replay {
  const sightings = new Map<number, Sighting>();
  const activities: Activity[] = [];
  const seenBefore: SeenBefore[] = [];
  for (const { index, chainTime, scripts } of blocks) {
    const activity: Activity = { active: { minute: 0, hour: 0, day: 0 }, new: 0 };
    const row: SeenBefore = { chainIndex: index, scripts: [], lastSeen: [] };
    for (const script of scripts) {
      const { first, last, touched } = sightings.get(script) ?? before.get(script) ?? UNSEEN;
      for (const length of LENGTHS) {
        if (touched === null || touched < startOfInterval(length, chainTime)) activity.active[length] += 1;
      }
      if (last === null) activity.new += 1;
      row.scripts.push(script);
      row.lastSeen.push(last);
      sightings.set(script, { first: first ?? chainTime, last: chainTime, touched: chainTime });
    }
    activities.push(activity);
    seenBefore.push(row);
  }
  return { activities, seenBefore, sightings };
}

/**
 * Sightings below removed blocks, from the rows of seen_before.
 * @param now sightings at the top of them
 * @param rows from the top downwards
 */
export function unsee(now: ReadonlyMap<number, Sighting>, rows: readonly SeenBefore[]): Map<number, Sighting> {
  const before = new Map(now);
  for (const { scripts, lastSeen } of rows) {
    scripts.forEach((script, i) => {
      const last = lastSeen[i] ?? null;
      before.set(script, last === null ? UNSEEN : { first: now.get(script)?.first ?? null, last, touched: last });
    });
  }
  return before;
}

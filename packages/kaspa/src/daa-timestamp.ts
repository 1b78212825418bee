/** Estimates when the chain has a DAA score, from known points (rusty-kaspa, rpc/service). */
import type { Crescendo, DaaTimestamp } from './networks.ts';

const LARGEST_UINT64 = 2n ** 64n - 1n;

/**
 * The growth of a network's DAA score. A node ignores Crescendo here, and is off by weeks around
 * it.
 */
export interface Pace {
  targetTimePerBlockMs: number;
  crescendo?: Crescendo | undefined;
}

/**
 * Returns the time (Unix milliseconds) of a DAA score: interpolated between two points,
 * extrapolated at the network's block time above the last point, and equal to the first point's
 * below it.
 * @param points at least one, ascending by DAA score; only the neighbours of the score matter
 */
export function estimateTimestamp(daaScore: bigint, points: readonly DaaTimestamp[], pace: Pace): bigint {
  const aboveIndex = firstAbove(daaScore, points);
  const [below, above] = [points[aboveIndex - 1], points[aboveIndex]];
  if (below !== undefined) {
    const elapsed =
      above === undefined
        ? (daaScore - below.daaScore) * BigInt(pace.targetTimePerBlockMs)
        : interpolate(daaScore, below, above, pace);
    const timestamp = below.timestamp + elapsed;
    return timestamp > LARGEST_UINT64 ? LARGEST_UINT64 : timestamp;
  }
  if (above === undefined) throw new RangeError('An estimate needs at least one known point');
  return above.timestamp;
}

/**
 * Returns at most `count` DAA scores between two others (exclusive), ascending, at equal distances
 * in time.
 */
export function spreadDaaScores(from: bigint, to: bigint, count: number, pace: Pace): bigint[] {
  const scores = new Set<bigint>();
  const total = nominalTime(from, to, pace);
  for (let step = 1n; step <= count; step += 1n) {
    const score = scoreAfter(from, (total * step) / BigInt(count + 1), pace);
    if (score > from && score < to) scores.add(score);
  }
  return [...scores];
}

/** Returns the index of the first point above a score, or the number of points. */
function firstAbove(daaScore: bigint, points: readonly DaaTimestamp[]): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle] as DaaTimestamp).daaScore > daaScore) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Interpolates as the node does, in doubles. A later point with an earlier timestamp counts as
 * simultaneous.
 */
function interpolate(daaScore: bigint, below: DaaTimestamp, above: DaaTimestamp, pace: Pace): bigint {
  if (above.timestamp <= below.timestamp) return 0n;
  const part = nominalTime(below.daaScore, daaScore, pace);
  const fraction = Number(part) / Number(nominalTime(below.daaScore, above.daaScore, pace));
  return BigInt(Math.trunc(Number(above.timestamp - below.timestamp) * fraction));
}

/** Returns the target time between two DAA scores in milliseconds, where `from <= to`. */
function nominalTime(from: bigint, to: bigint, { targetTimePerBlockMs, crescendo }: Pace): bigint {
  const time = (to - from) * BigInt(targetTimePerBlockMs);
  if (crescendo === undefined || from >= crescendo.activationDaaScore) return time;
  const slow = (to < crescendo.activationDaaScore ? to : crescendo.activationDaaScore) - from;
  return time + slow * BigInt(crescendo.targetTimePerBlockMsBefore - targetTimePerBlockMs);
}

/** Returns the DAA score that a network aims at `time` milliseconds after `from`. */
function scoreAfter(from: bigint, time: bigint, pace: Pace): bigint {
  const { targetTimePerBlockMs, crescendo } = pace;
  if (crescendo === undefined || from >= crescendo.activationDaaScore)
    return from + time / BigInt(targetTimePerBlockMs);
  const untilActivation = nominalTime(from, crescendo.activationDaaScore, pace);
  if (time <= untilActivation) return from + time / BigInt(crescendo.targetTimePerBlockMsBefore);
  return crescendo.activationDaaScore + (time - untilActivation) / BigInt(targetTimePerBlockMs);
}

/** When the chain had, or will have, a DAA score: an estimate from points that are known (rusty-kaspa, rpc/service). */
import type { Crescendo, DaaTimestamp } from './networks.ts';

const LARGEST_UINT64 = 2n ** 64n - 1n;

/** How fast a network's DAA score grows. A node knows no Crescendo here, and is off by weeks around it. */
export interface Pace {
  targetTimePerBlockMs: number;
  crescendo?: Crescendo | undefined;
}

/**
 * The time (Unix milliseconds) of a DAA score: that of a point with this score, interpolated between two, extrapolated at the
 * network's block time above the last, and the first point's below it.
 * @param points ascending by DAA score, at least one; only the neighbours of the score matter
 */
export function estimateTimestamp(daaScore: bigint, points: readonly DaaTimestamp[], pace: Pace): bigint {
  const aboveIndex = firstAbove(daaScore, points);
  const below = points[aboveIndex - 1];
  const above = points[aboveIndex];
  if (below !== undefined) {
    const elapsed =
      above === undefined
        ? (daaScore - below.daaScore) * BigInt(pace.targetTimePerBlockMs)
        : interpolate(daaScore, below, above, pace);
    return clampToUint64(below.timestamp + elapsed);
  }
  if (above === undefined) throw new RangeError('No known point to estimate a time from');
  return above.timestamp;
}

/** DAA scores between two others, without them: at most `count`, ascending, at equal distances in time. */
export function spreadDaaScores(from: bigint, to: bigint, count: number, pace: Pace): bigint[] {
  const scores = new Set<bigint>();
  const total = nominalTime(from, to, pace);
  for (let step = 1n; step <= count; step += 1n) {
    const score = scoreAfter(from, (total * step) / BigInt(count + 1), pace);
    if (score > from && score < to) scores.add(score);
  }
  return [...scores];
}

/** The position of the first point above a score; their number if there is none. */
function firstAbove(daaScore: bigint, points: readonly DaaTimestamp[]): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle] as DaaTimestamp).daaScore > daaScore) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** As the node does it, within one block rate: in doubles, and time that runs backwards counts as none. */
function interpolate(daaScore: bigint, below: DaaTimestamp, above: DaaTimestamp, pace: Pace): bigint {
  if (above.timestamp <= below.timestamp) return 0n;
  const part = nominalTime(below.daaScore, daaScore, pace);
  const fraction = Number(part) / Number(nominalTime(below.daaScore, above.daaScore, pace));
  return BigInt(Math.trunc(Number(above.timestamp - below.timestamp) * fraction));
}

/** Milliseconds that the network aims at between two DAA scores, of which the first is not the greater. */
function nominalTime(from: bigint, to: bigint, { targetTimePerBlockMs, crescendo }: Pace): bigint {
  const time = (to - from) * BigInt(targetTimePerBlockMs);
  if (crescendo === undefined || from >= crescendo.activationDaaScore) return time;
  const slow = (to < crescendo.activationDaaScore ? to : crescendo.activationDaaScore) - from;
  return time + slow * BigInt(crescendo.targetTimePerBlockMsBefore - targetTimePerBlockMs);
}

/** The DAA score that a network aims at after so many milliseconds. */
function scoreAfter(from: bigint, time: bigint, pace: Pace): bigint {
  const { targetTimePerBlockMs, crescendo } = pace;
  if (crescendo === undefined || from >= crescendo.activationDaaScore)
    return from + time / BigInt(targetTimePerBlockMs);
  const untilActivation = nominalTime(from, crescendo.activationDaaScore, pace);
  if (time <= untilActivation) return from + time / BigInt(crescendo.targetTimePerBlockMsBefore);
  return crescendo.activationDaaScore + (time - untilActivation) / BigInt(targetTimePerBlockMs);
}

function clampToUint64(value: bigint): bigint {
  return value > LARGEST_UINT64 ? LARGEST_UINT64 : value;
}

/** When the chain had, or will have, a DAA score: an estimate from points that are known (rusty-kaspa, rpc/service). */
import type { DaaTimestamp } from './networks.ts';

const LARGEST_UINT64 = 2n ** 64n - 1n;

/**
 * The time (Unix milliseconds) of a DAA score: that of a point with this score, interpolated between two, extrapolated at the
 * network's block time above the last, and the first point's below it.
 * @param points ascending by DAA score, at least one; only the neighbours of the score matter
 */
export function estimateTimestamp(
  daaScore: bigint,
  points: readonly DaaTimestamp[],
  targetTimePerBlockMs: number,
): bigint {
  const aboveIndex = points.findIndex((point) => point.daaScore > daaScore);
  const below = aboveIndex === -1 ? points.at(-1) : points[aboveIndex - 1];
  const above = points[aboveIndex];
  if (below !== undefined) {
    const elapsed =
      above === undefined
        ? (daaScore - below.daaScore) * BigInt(targetTimePerBlockMs)
        : interpolate(daaScore, below, above);
    return clampToUint64(below.timestamp + elapsed);
  }
  if (above === undefined) throw new RangeError('No known point to estimate a time from');
  return above.timestamp;
}

/** As the node does it: in doubles, and time that runs backwards counts as none. */
function interpolate(daaScore: bigint, below: DaaTimestamp, above: DaaTimestamp): bigint {
  if (above.timestamp <= below.timestamp) return 0n;
  const fraction = Number(daaScore - below.daaScore) / Number(above.daaScore - below.daaScore);
  return BigInt(Math.trunc(Number(above.timestamp - below.timestamp) * fraction));
}

function clampToUint64(value: bigint): bigint {
  return value > LARGEST_UINT64 ? LARGEST_UINT64 : value;
}

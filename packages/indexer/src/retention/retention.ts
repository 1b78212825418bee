/** How much of the chain an index keeps, as `RETENTION` says it. */
import type { Network } from '@kasgres/kaspa';

/** An age by the time of the chain, or a depth below its sink. */
export type Retention = { kind: 'milliseconds'; milliseconds: bigint } | { kind: 'blue score'; blueScore: bigint };

const DAY_MS = 86_400_000n;

/** @throws TypeError unless the text is a number of days, such as `30d`, or a blue score */
export function parseRetention(text: string): Retention {
  const [, days, blueScore] = /^(?:([1-9]\d{0,5})d|([1-9]\d{0,11}))$/.exec(text) ?? [];
  if (days !== undefined) return { kind: 'milliseconds', milliseconds: BigInt(days) * DAY_MS };
  if (blueScore !== undefined) return { kind: 'blue score', blueScore: BigInt(blueScore) };
  throw new TypeError('must be a number of days such as 30d, or a blue score such as 2000000');
}

/** Returns the blue score that the network reaches in this time if every block is blue. */
export function blueScoreOf(
  retention: Retention,
  { targetTimePerBlockMs }: Pick<Network, 'targetTimePerBlockMs'>,
): bigint {
  return retention.kind === 'blue score' ? retention.blueScore : retention.milliseconds / BigInt(targetTimePerBlockMs);
}

/**
 * Old rows go one generation at a time. With more generations, less is kept for longer than
 * necessary, but each look-up by hash probes more partitions: `npm run bench:partitions`.
 */
const GENERATIONS = 4n;

/**
 * Returns the number of chain blocks of a generation. A chain block adds at least one to the blue
 * score.
 * @param pace blue score or milliseconds per chain block of late; undefined if there is no chain
 * yet
 */
export function generationLength(
  retention: Retention,
  network: Pick<Network, 'targetTimePerBlockMs'>,
  pace: { blueScore: number; milliseconds: number } | undefined,
): bigint {
  const longest = blueScoreOf(retention, network) / GENERATIONS;
  const part =
    retention.kind === 'blue score'
      ? Number(retention.blueScore) / (pace?.blueScore || 1)
      : Number(retention.milliseconds) / (pace?.milliseconds || network.targetTimePerBlockMs);
  const length = BigInt(Math.ceil(part / Number(GENERATIONS)));
  return max(1n, length < longest || pace === undefined ? length : longest);
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * The amount that a block may mint (rusty-kaspa, consensus/src/processes/coinbase.rs): the subsidy
 * falls every month, to a half in a year.
 */
import type { Network } from './networks.ts';

/** 30.4375 days. */
const SECONDS_PER_MONTH = 2_629_800n;
/** Sompi per second in the first month. */
const FIRST_MONTH = 44e9;
const BEFORE_FIRST_MONTH = 50_000_000_000n;
/** From this month on there is no subsidy. */
const LAST_MONTH = 425n;

type Emission = Pick<Network, 'targetTimePerBlockMs' | 'crescendo' | 'deflationDaaScore'>;

export interface Subsidy {
  /** Sompi per block, without fees. */
  subsidy: bigint;
  /** The DAA score from which another one applies; undefined when there is none left. */
  endDaaScore: bigint | undefined;
}

/** Returns what blocks of a DAA score mint. */
export function subsidyAt(network: Emission, daaScore: bigint): Subsidy {
  if (daaScore < network.deflationDaaScore) {
    return { subsidy: perBlock(network, daaScore, BEFORE_FIRST_MONTH), endDaaScore: network.deflationDaaScore };
  }
  const month = secondsOfDeflation(network, daaScore) / SECONDS_PER_MONTH;
  if (month >= LAST_MONTH) return { subsidy: 0n, endDaaScore: undefined };
  const perSecond = BigInt(Math.floor(FIRST_MONTH * 2 ** (-Number(month) / 12)));
  const endDaaScore = daaScoreAfter(network, (month + 1n) * SECONDS_PER_MONTH);
  const { crescendo } = network;
  // A month that the change of the block rate divides has two subsidies.
  const isDivided = crescendo && daaScore < crescendo.activationDaaScore && endDaaScore > crescendo.activationDaaScore;
  return {
    subsidy: perBlock(network, daaScore, perSecond),
    endDaaScore: isDivided ? crescendo.activationDaaScore : endDaaScore,
  };
}

const blocksPerSecond = (targetTimeMs: number): bigint => BigInt(1000 / targetTimeMs);

function rateAt({ targetTimePerBlockMs, crescendo }: Emission, daaScore: bigint): bigint {
  const isBefore = crescendo !== undefined && daaScore < crescendo.activationDaaScore;
  return blocksPerSecond(isBefore ? crescendo.targetTimePerBlockMsBefore : targetTimePerBlockMs);
}

/** Rounds up. */
function perBlock(network: Emission, daaScore: bigint, perSecond: bigint): bigint {
  const rate = rateAt(network, daaScore);
  return (perSecond + rate - 1n) / rate;
}

function secondsOfDeflation(network: Emission, daaScore: bigint): bigint {
  const { crescendo, deflationDaaScore, targetTimePerBlockMs } = network;
  if (crescendo === undefined) return (daaScore - deflationDaaScore) / blocksPerSecond(targetTimePerBlockMs);
  const { activationDaaScore, targetTimePerBlockMsBefore } = crescendo;
  const before = (daaScore < activationDaaScore ? daaScore : activationDaaScore) - deflationDaaScore;
  const after = daaScore < activationDaaScore ? 0n : daaScore - activationDaaScore;
  return before / blocksPerSecond(targetTimePerBlockMsBefore) + after / blocksPerSecond(targetTimePerBlockMs);
}

function daaScoreAfter(network: Emission, seconds: bigint): bigint {
  const { crescendo, deflationDaaScore, targetTimePerBlockMs } = network;
  const rate = blocksPerSecond(targetTimePerBlockMs);
  if (crescendo === undefined) return deflationDaaScore + seconds * rate;
  const rateBefore = blocksPerSecond(crescendo.targetTimePerBlockMsBefore);
  const secondsBefore = (crescendo.activationDaaScore - deflationDaaScore) / rateBefore;
  if (seconds <= secondsBefore) return deflationDaaScore + seconds * rateBefore;
  return crescendo.activationDaaScore + (seconds - secondsBefore) * rate;
}

/**
 * The response to getDaaScoreTimestampEstimate, which interpolates between a few samples of the
 * chain. Source: rusty-kaspa, `get_chain_block_samples` and
 * `get_daa_score_timestamp_estimate_call`.
 */
import { type DaaTimestamp, estimateTimestamp, type Network } from '@kasgres/kaspa';
import type { Dag } from '../dag.ts';

/** Returns Unix milliseconds for each score, in the same order. */
export function timestampsOfDaaScores(dag: Dag, network: Network, daaScores: readonly bigint[]): bigint[] {
  const samples = chainSamples(dag, network);
  return daaScores.map((daaScore) =>
    estimateTimestamp(daaScore, samples, { targetTimePerBlockMs: network.targetTimePerBlockMs }),
  );
}

/**
 * Returns, ascending: the network's known points, genesis and every pruning point, about three
 * chain blocks above the latest, and the sink.
 */
function chainSamples(dag: Dag, network: Network): DaaTimestamp[] {
  const above = dag.chainBlocks.slice(Number(dag.root.chainIndex));
  const high = above.length - 1;
  const step = Math.max(Math.floor(high / 3), 1);
  const sampled = [
    ...dag.pruningPoints,
    ...above.filter((_, index) => index > 0 && (index % step === 0 || index === high)),
  ];
  return [
    ...network.daaTimestamps,
    ...sampled.map(({ header }) => ({ daaScore: header.daaScore, timestamp: header.timestamp })),
  ];
}

import type { BlockLevels } from './parent-levels.ts';

/**
 * The parameters of a network (rusty-kaspa, consensus/core/src/config). Blocks become final sooner than in a node, which saves memory, and only
 * `SimulatedNode.prune` prunes.
 */
export interface ConsensusParams {
  /** Blues that a blue block may have in its anticone. */
  ghostdagK: number;
  /** The k of blocks whose selected parent has a lower DAA score, as on networks before Crescendo. */
  ghostdagKBefore?: { daaScore: number; k: number };
  maxBlockParents: number;
  mergesetSizeLimit: number;
  /** In blue score: the selected chain never changes deeper than this below the sink. */
  finalityDepth: number;
  /** DAA scores between a coinbase's acceptance and its first spending. */
  coinbaseMaturity: number;
  /** Sompi that a block earns; constant for the first half year of a network. */
  subsidy: bigint;
  targetTimePerBlockMs: number;
  difficulty: { windowSize: number; sampleRate: number; minWindowSize: number };
  medianTime: { windowSize: number; sampleRate: number };
  /** Milliseconds that a timestamp may be ahead of the clock. */
  timestampToleranceMs: number;
  /** Default: few levels, so that headers are small. */
  blockLevels?: BlockLevels | undefined;
}

/** simnet has mainnet's block rate and no proof of work. */
export const SIMNET_PARAMS: ConsensusParams = {
  ghostdagK: 124,
  maxBlockParents: 64,
  mergesetSizeLimit: 248,
  finalityDepth: 5_000,
  coinbaseMaturity: 1000,
  subsidy: 5_000_000_000n,
  targetTimePerBlockMs: 100,
  difficulty: { windowSize: 661, sampleRate: 40, minWindowSize: 150 },
  medianTime: { windowSize: 27, sampleRate: 100 },
  timestampToleranceMs: 132_000,
};

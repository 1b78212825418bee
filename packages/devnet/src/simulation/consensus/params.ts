/** Source: rusty-kaspa, consensus/core/src/config. */
export interface ConsensusParams {
  ghostdagK: number;
  /** The k below a DAA score, as before Crescendo. */
  ghostdagKBefore?: { daaScore: number; k: number };
  maxBlockParents: number;
  mergesetSizeLimit: number;
  /** Blue scores below the sink. It is less than a node's, to save memory. */
  finalityDepth: number;
  /** DAA scores. */
  coinbaseMaturity: number;
  /** Sompi; constant for the first half year of a network. */
  subsidy: bigint;
  targetTimePerBlockMs: number;
  difficulty: { windowSize: number; sampleRate: number; minWindowSize: number };
  medianTime: { windowSize: number; sampleRate: number };
  /** Milliseconds that a timestamp may be ahead of the clock. */
  timestampToleranceMs: number;
  /** Default: few levels, so that headers are small. */
  blockLevels?: BlockLevels | undefined;
}

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

export interface BlockLevels {
  /** The lowest level of a block: up to it, all parents are the direct ones. */
  least: number;
  /** 3: one block in 2^3 is of the next level. */
  zeroBitsPerLevel: number;
  /**
   * The least number of levels in a header. Levels above the simulated past have made-up hashes.
   */
  count: number;
}

/**
 * Parameters of a node that prunes soon: simnet with the smallest consistent depths of finality and
 * pruning (rusty-kaspa, docs/override-params.md: `blockrate` must be complete). Every block counts
 * for the difficulty, so that its window is short: a peer accepts no proof of a pruning point whose
 * window has genesis.
 */
import type { LoadParams } from './load/load.ts';

const GHOSTDAG_K = 20;
const COINBASE_MATURITY = 50;

export const FINALITY_DEPTH = 200;
export const PRUNING_DEPTH = 450;

export const smallPruning = {
  pruning_proof_m: 16,
  blockrate: {
    target_time_per_block: 100,
    ghostdag_k: GHOSTDAG_K,
    past_median_time_sample_rate: 10,
    difficulty_sample_rate: 1,
    max_block_parents: 16,
    mergeset_size_limit: 64,
    merge_depth: 128,
    finality_depth: FINALITY_DEPTH,
    pruning_depth: PRUNING_DEPTH,
    coinbase_maturity: COINBASE_MATURITY,
  },
};

/** The environment of an indexer of such a node: no call tells these depths. */
export const smallPruningDepths = { FINALITY_DEPTH: String(FINALITY_DEPTH), PRUNING_DEPTH: String(PRUNING_DEPTH) };

export const smallPruningLoad: LoadParams = { ghostdagK: GHOSTDAG_K, coinbaseMaturity: BigInt(COINBASE_MATURITY) };

/**
 * UTXOs mature as soon, but nothing is pruned. At one block a second, a node more than 32 chain
 * blocks behind its peer downloads what it misses at once instead of requesting the parents of
 * orphans.
 */
export const nothingPruned = {
  ...smallPruning,
  blockrate: {
    ...smallPruning.blockrate,
    target_time_per_block: 1_000,
    finality_depth: 20_000,
    pruning_depth: 50_000,
  },
};

/** Coinbases are mature after this many empty blocks. */
export const SMALL_WARM_UP_BLOCKS = 200;
/** The pruning point has moved several times after this many blocks. */
export const BLOCKS_UNTIL_PRUNED = 1_500;

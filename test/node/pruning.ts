/**
 * A node that prunes soon: simnet with the depths of finality and pruning, and all that hangs on them, as small as kaspad takes them
 * together (rusty-kaspa, docs/override-params.md wants the whole of `blockrate`). Every block counts for the difficulty, so that its
 * window is short: a peer takes no proof of a pruning point whose window still holds genesis.
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

/** What an indexer has to be told of such a node, since no call tells it: its pauses are as short as these depths are small. */
export const smallPruningDepths = { FINALITY_DEPTH: String(FINALITY_DEPTH), PRUNING_DEPTH: String(PRUNING_DEPTH) };

export const smallPruningLoad: LoadParams = { ghostdagK: GHOSTDAG_K, coinbaseMaturity: BigInt(COINBASE_MATURITY) };

/**
 * The same, and everything is kept: for tests of nodes that have pruned nothing, with UTXOs that mature soon. At one block a second
 * a node that is more than 32 chain blocks behind its peer downloads what it misses at once, instead of asking for orphans' parents.
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

/** Enough empty blocks that coinbases have matured. */
export const SMALL_WARM_UP_BLOCKS = 200;
/** Enough blocks that the pruning point has moved several times. */
export const BLOCKS_UNTIL_PRUNED = 1_500;

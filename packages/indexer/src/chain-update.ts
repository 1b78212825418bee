/**
 * The output of the source. The unit is the chain block with its mergeset (docs/architecture.md,
 * "Data path").
 */
import type { Hash } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';

export interface AddedChainBlock {
  block: RpcBlock;
  /**
   * Complete blocks in the order of acceptance: selected parent first, then ascending (blue work,
   * hash).
   */
  mergeSet: RpcBlock[];
  acceptedTransactionIds: Hash[];
}

export interface ChainUpdate {
  /** Chain blocks to revert, from the checkpoint down; empty without a reorg. */
  removed: Hash[];
  added: AddedChainBlock[];
  /**
   * Blocks beside the sink that the node's virtual block would merge, parents first; undefined
   * during a catch-up.
   */
  tail: RpcBlock[] | undefined;
  atTip: boolean;
  targetBlueScore: bigint;
}

export interface Position {
  hash: Hash;
  blueScore: bigint;
}

/**
 * Returns an update that removes and adds nothing but `fields`.
 * @param targetBlueScore of the node's sink
 */
export function createUpdate(targetBlueScore: bigint, fields: Partial<ChainUpdate>): ChainUpdate {
  return { removed: [], added: [], tail: undefined, atTip: false, targetBlueScore, ...fields };
}

/**
 * What the source hands on: one step of the virtual chain, with every body that is needed to write it. The unit is the chain
 * block with its mergeset (docs/architecture.md, "Data path").
 */
import type { Hash } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';

export interface AddedChainBlock {
  block: RpcBlock;
  /** In the order of acceptance: selected parent first, then ascending (blue work, hash). Every block with all its transactions. */
  mergeSet: RpcBlock[];
  /** In the node's order. */
  acceptedTransactionIds: Hash[];
}

export interface ChainUpdate {
  /** Chain blocks to undo, from the checkpoint down; empty without a reorg. */
  removed: Hash[];
  /** Chain blocks to add, upwards from the checkpoint, or from where `removed` leads. */
  added: AddedChainBlock[];
  /** Blocks beside the sink that the node's virtual block would merge, parents first; undefined: not asked, as during catch-up. */
  tail: RpcBlock[] | undefined;
  /** Whether the node's sink was reached. */
  atTip: boolean;
  /** Blue score of the node's sink. */
  targetBlueScore: bigint;
}

/** The place in the chain from which the next update counts. */
export interface Position {
  hash: Hash;
  blueScore: bigint;
}

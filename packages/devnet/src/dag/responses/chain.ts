/** Walks the selected chain for a node's virtual chain calls. */
import type { AcceptedTransaction, Dag, DagBlock } from '../dag.ts';
import { NodeResponseError } from '../node-state.ts';

/**
 * Returns the block itself or its highest chain ancestor that is on the chain, `undefined` if that
 * is pruned.
 */
export function highestChainAncestor(block: DagBlock): DagBlock | undefined {
  let ancestor: DagBlock | undefined = block;
  while (ancestor !== undefined && ancestor.chainIndex === undefined) ancestor = ancestor.selectedParent;
  return ancestor;
}

/** Returns the chain blocks above a chain block, up to the sink. */
export function chainAbove(dag: Dag, { hash, chainIndex }: DagBlock): readonly DagBlock[] {
  if (chainIndex === undefined) throw new Error(`block ${hash} is not on the chain`);
  return dag.chainBlocks.slice(chainIndex + 1);
}

export interface VirtualChain {
  /** From the start block down to the chain, exclusive. Never limited. */
  removed: DagBlock[];
  /** From the fork up towards the sink. */
  added: readonly DagBlock[];
}

export interface VirtualChainRequest {
  start: DagBlock;
  /** Chain blocks with this many confirmations or fewer are left out; 0 leaves out none. */
  minConfirmationCount: bigint;
  /**
   * Whether the response lists accepted transactions: then the number of merged blocks is limited
   * instead of chain blocks.
   */
  withAccepted: boolean;
  /** The network's limit of a mergeset; a response contains ten times as many blocks. */
  mergeSetSizeLimit: number;
}

/**
 * Source: rusty-kaspa, `get_virtual_chain_from_block_call`. Throws the node's error for a start
 * that leaves the chain below the root.
 */
export function virtualChainFrom(dag: Dag, request: VirtualChainRequest): VirtualChain {
  const limit = 10 * request.mergeSetSizeLimit;
  const removed: DagBlock[] = [];
  const fork = highestChainAncestor(request.start);
  if (fork === undefined || Number(fork.chainIndex) < Number(dag.root.chainIndex)) throw notOnItsChain();
  for (let block = request.start; block !== fork && block.selectedParent !== undefined; block = block.selectedParent) {
    removed.push(block);
  }
  const added = chainAbove(dag, fork).slice(0, limit);
  const confirmed = withConfirmations(added, dag.sink, request.minConfirmationCount);
  return { removed, added: request.withAccepted ? firstMerging(confirmed, limit) : confirmed };
}

/** kaspad's error for a start block whose selected parents do not reach the pruning point. */
export function notOnItsChain(): NodeResponseError {
  return new NodeResponseError('the queried hash does not have retention root on its chain');
}

/** Returns the transactions that a chain block accepts, in order. */
export function acceptedBy(chainBlock: DagBlock): readonly AcceptedTransaction[] {
  if (chainBlock.accepted === undefined) throw new Error(`the acceptance of block ${chainBlock.hash} is unknown`);
  return chainBlock.accepted;
}

function withConfirmations(chainBlocks: readonly DagBlock[], sink: DagBlock, minimum: bigint): readonly DagBlock[] {
  if (minimum === 0n) return chainBlocks;
  return chainBlocks.filter(({ header }) => sink.header.blueScore - header.blueScore > minimum);
}

/** Returns the longest prefix of the chain blocks that merges at most `limit` blocks. */
function firstMerging(chainBlocks: readonly DagBlock[], limit: number): readonly DagBlock[] {
  let merged = 0;
  const tooMany = chainBlocks.findIndex((block) => {
    merged += block.mergeSet.length;
    return merged > limit;
  });
  return tooMany === -1 ? chainBlocks : chainBlocks.slice(0, tooMany);
}

/**
 * The block that an index begins with. A start is a block with its UTXO set (docs/architecture.md, "Start"): genesis with the empty
 * one, as long as the node has everything since; else the node's pruning point, with the set that it hands out to its peers.
 */
import { fromHex, type Hash, type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, type RpcBlock } from '@kasgres/node';
import { IncompleteUpdateError } from '../errors.ts';
import { findFault } from '../source/check-block.ts';

/** The commitment of an empty UTXO set (its MuHash), which the headers of networks that begin with no UTXOs carry. */
const EMPTY_UTXO_COMMITMENT = '544eb3142c000f0ad2c76ac41f4222abbababed830eeafee4b6dc56b52d5cac0';

/**
 * @returns undefined when the node has pruned the chain since genesis, or genesis comes with UTXOs, which no node hands out
 */
export async function findGenesis(
  node: NodeClient,
  network: Network,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  const block = await findBootstrapBlock(node, network.genesisHash, signal);
  return block !== undefined && toHex(block.header.utxoCommitment) === EMPTY_UTXO_COMMITMENT ? block : undefined;
}

/** Genesis until the node has pruned. @throws IncompleteUpdateError when it has just moved it */
export async function getPruningPoint(node: NodeClient, signal: AbortSignal): Promise<RpcBlock> {
  const { pruningPointHash } = await node.call('getBlockDagInfo', {}, { signal });
  const block = await findBootstrapBlock(node, fromHex(pruningPointHash), signal);
  if (block === undefined) {
    throw new IncompleteUpdateError(`the node does not have its pruning point ${pruningPointHash}, or has moved it`);
  }
  return block;
}

/** A block from which on the node has everything: whole, and on its chain. */
export async function findBootstrapBlock(
  node: NodeClient,
  hash: Hash,
  signal: AbortSignal,
): Promise<RpcBlock | undefined> {
  try {
    const block = await node.getBlock({ hash, includeTransactions: true }, { signal });
    if (findFault(block) !== undefined) return undefined;
    const { removedChainBlockHashes } = await node.getVirtualChainFromBlock(
      { startHash: hash, includeAcceptedTransactionIds: true },
      { signal },
    );
    return removedChainBlockHashes.length === 0 ? block : undefined;
  } catch (error) {
    if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned')) return undefined;
    throw error;
  }
}

/**
 * The first block of an index. A start is a block with its UTXO set (docs/architecture.md, "Start"): here genesis with the
 * empty one, so the node must still have everything since genesis.
 */
import { type Network, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, NodeUnsuitableError, type RpcBlock } from '@kasgres/node';
import { FatalError } from '@kasgres/runtime';
import { findFault } from './source/check-block.ts';

/** The commitment of an empty UTXO set (its MuHash), which the headers of networks that begin with no coins carry. */
const EMPTY_UTXO_COMMITMENT = '544eb3142c000f0ad2c76ac41f4222abbababed830eeafee4b6dc56b52d5cac0';

/** @throws NodeUnsuitableError, in words, when the node no longer has the chain since genesis; FatalError when no node can have it */
export async function getFirstBlock(node: NodeClient, network: Network, signal: AbortSignal): Promise<RpcBlock> {
  const hash = network.genesisHash;
  try {
    const block = await node.getBlock({ hash, includeTransactions: true }, { signal });
    if (toHex(block.header.utxoCommitment) !== EMPTY_UTXO_COMMITMENT) {
      throw new FatalError(
        `The genesis of ${network.id} comes with coins of its own, which no node hands out: it cannot be a start. ` +
          'Starting at a pruning point is not built yet.',
      );
    }
    const fault = findFault(block);
    if (fault !== undefined) throw new NodeUnsuitableError('pruned', `${hasPruned} Its genesis block ${fault}.`);
    await node.getVirtualChainFromBlock({ startHash: hash, includeAcceptedTransactionIds: true }, { signal });
    return block;
  } catch (error) {
    if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned')) {
      throw new NodeUnsuitableError('pruned', `${hasPruned} It says: ${error.message}.`);
    }
    throw error;
  }
}

const hasPruned =
  'This node has pruned the chain since genesis, and starting at its pruning point is not built yet. ' +
  'Point NODE_URL at a node that keeps everything (kaspad --archival, synced from genesis).';

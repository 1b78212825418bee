/**
 * Which merged block the accepted body of each id came from. Only getVirtualChainFromBlockV2 knows; it is asked only where a
 * mergeset carries several bodies of one id, since one non-standard script makes the node refuse the whole answer.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, protocol } from '@kasgres/node';
import type { AddedChainBlock } from '../chain-update.ts';

const { LOW } = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;

/**
 * @param added the accepting block
 * @param sinkBlueScore of the node's sink, not long ago
 * @returns block hash by transaction id, both hex; undefined when the node cannot tell
 */
export async function findSources(
  client: NodeClient,
  added: AddedChainBlock,
  sinkBlueScore: bigint,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { block, mergeSet } = added;
  // Ends the answer at the accepting block: what comes after it may be what the node cannot show.
  const confirmations = sinkBlueScore - block.header.blueScore - 1n;
  const request = {
    startHash: toHex(mergeSet[0]?.hash as Hash),
    dataVerbosityLevel: LOW,
    ...(confirmations > 0n && { minConfirmationCount: confirmations }),
  };
  try {
    const answer = await client.call('getVirtualChainFromBlockV2', request, { signal });
    const place = answer.addedChainBlockHashes.indexOf(toHex(block.hash));
    const accepted = answer.chainBlockAcceptedTransactions[place]?.acceptedTransactions;
    if (accepted === undefined) return undefined;
    const sources = new Map<string, string>();
    for (const { verboseData } of accepted) {
      if (verboseData?.transactionId !== undefined && verboseData.blockHash !== undefined) {
        sources.set(verboseData.transactionId, verboseData.blockHash);
      }
    }
    return sources;
  } catch (error) {
    if (error instanceof NodeRpcError) return undefined;
    throw error;
  }
}

import { type NodeClient, NodeProtocolError, NodeRpcError, NodeUnavailableError, protocol } from '@kasgres/node';
import type { FindSources } from '../prepare/ambiguous-variants.ts';

const { LOW } = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;
/** A slow response must not delay the requests about the chain, which use stream 0. */
const STREAM = 1;

/**
 * Returns the block that carries each accepted transaction, by its id, both hex. One non-standard
 * script makes the call fail: then undefined.
 */
export async function findSources(
  client: NodeClient,
  { chainBlock, chainBlockBlueScore, parent }: Parameters<FindSources>[0],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const sink = await client.call('getSinkBlueScore', {}, { signal, stream: STREAM });
    // The response should end at the accepting block, since later blocks may contain such a script.
    const confirmations = sink.blueScore - chainBlockBlueScore - 1n;
    const response = await client.call(
      'getVirtualChainFromBlockV2',
      {
        startHash: parent,
        dataVerbosityLevel: LOW,
        ...(confirmations > 0n && { minConfirmationCount: confirmations }),
      },
      { signal, stream: STREAM },
    );
    const index = response.addedChainBlockHashes.indexOf(chainBlock);
    const accepted = response.chainBlockAcceptedTransactions[index]?.acceptedTransactions;
    if (accepted === undefined) return undefined;
    const sources = new Map<string, string>();
    for (const { verboseData } of accepted) {
      if (verboseData?.transactionId !== undefined && verboseData.blockHash !== undefined) {
        sources.set(verboseData.transactionId, verboseData.blockHash);
      }
    }
    return sources;
  } catch (error) {
    // The source notices an unavailable node where that matters.
    const errors = [NodeRpcError, NodeUnavailableError, NodeProtocolError];
    if (errors.some((type) => error instanceof type)) return undefined;
    throw error;
  }
}

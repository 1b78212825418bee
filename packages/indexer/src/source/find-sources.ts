/**
 * Which merged block the accepted body of each id came from. Only getVirtualChainFromBlockV2 knows; it is asked only where a
 * mergeset carries several bodies of one id, since one non-standard script makes the node refuse the whole response.
 */
import { type NodeClient, NodeProtocolError, NodeRpcError, NodeUnavailableError, protocol } from '@kasgres/node';

const { LOW } = protocol.GetVirtualChainFromBlockV2Request_DataVerbosityLevel;
/** A stream of pages: a response that takes long must not delay the requests about the chain, which go over the first stream. */
const STREAM = 1;

export interface Request {
  /** Hex. */
  chainBlock: string;
  chainBlockBlueScore: bigint;
  /** Selected parent of the chain block, hex. */
  parent: string;
}

/** @returns block hash by transaction id, both hex; undefined when the node cannot tell */
export async function findSources(
  client: NodeClient,
  { chainBlock, chainBlockBlueScore, parent }: Request,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const sink = await client.call('getSinkBlueScore', {}, { signal, stream: STREAM });
    // Ends the response at the accepting block, where it can: what comes after it may be what the node cannot show.
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
    const place = response.addedChainBlockHashes.indexOf(chainBlock);
    const accepted = response.chainBlockAcceptedTransactions[place]?.acceptedTransactions;
    if (accepted === undefined) return undefined;
    const sources = new Map<string, string>();
    for (const { verboseData } of accepted) {
      if (verboseData?.transactionId !== undefined && verboseData.blockHash !== undefined) {
        sources.set(verboseData.transactionId, verboseData.blockHash);
      }
    }
    return sources;
  } catch (error) {
    // A node that is away or too slow to tell stops nobody here: the source notices where it matters.
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return undefined;
    if (error instanceof NodeProtocolError) return undefined;
    throw error;
  }
}

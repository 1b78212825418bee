/**
 * The lower bound for a catch-up: everything that it requests from a node, decoded and discarded.
 */
import { fetchPages, type RunIndexerOptions } from '@kasgres/indexer';
import { fromHex, type Hash } from '@kasgres/kaspa';
import { checkNode, NodeClient } from '@kasgres/node';

export interface NodeAlone {
  seconds: number;
  bytes: number;
}

export async function readNodeAlone(
  url: string,
  limits: Pick<RunIndexerOptions['options'], 'pageStreams' | 'maxBytesAhead'>,
): Promise<NodeAlone> {
  const node = new NodeClient({ url, streams: 1 + limits.pageStreams });
  try {
    const { signal } = new AbortController();
    await node.waitUntilConnected();
    await checkNode(node);
    // Genesis, unless the node has pruned its chain.
    const first = fromHex((await node.call('getBlockDagInfo', {}, { signal })).pruningPointHash);
    const startedAt = performance.now();
    let bytes = 0;
    async function* chainHashes(): AsyncGenerator<readonly Hash[]> {
      for (let startHash: Hash = first; ; ) {
        const request = { startHash, includeAcceptedTransactionIds: true };
        const { addedChainBlockHashes, wireBytes } = await node.getVirtualChainFromBlock(request, { stream: 0 });
        const last = addedChainBlockHashes.at(-1);
        if (last === undefined) return;
        bytes += wireBytes;
        yield addedChainBlockHashes;
        startHash = last;
      }
    }
    for await (const { wireBytes } of fetchPages(node, first, chainHashes(), limits, signal)) bytes += wireBytes;
    return { seconds: (performance.now() - startedAt) / 1_000, bytes };
  } finally {
    await node.close();
  }
}

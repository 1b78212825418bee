/** getVirtualChainFromBlock from every block, and the acceptance of every transaction. */
import type { NodeClient } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { firstDifference } from './first-difference.ts';
import { chunks, inParallel } from './in-parallel.ts';
import type { NodeDag } from './node-dag.ts';

/** Whether the block is on the chain or beside it; every answer must be the same, in the same order. */
export async function compareVirtualChain(node: NodeClient, api: ApiClient, dag: NodeDag): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel([...dag.blocks.keys()], async (startHash) => {
    for (const includeAcceptedTransactionIds of [true, false]) {
      const request = { startHash, includeAcceptedTransactionIds };
      const [fromNode, fromApi] = await Promise.all([
        node.call('getVirtualChainFromBlock', request),
        api.post('/v1/rpc/getVirtualChainFromBlock', request),
      ]);
      const expected = {
        removedChainBlockHashes: fromNode.removedChainBlockHashes,
        addedChainBlockHashes: fromNode.addedChainBlockHashes,
        acceptedTransactionIds: fromNode.acceptedTransactionIds.map(
          ({ acceptingBlockHash, acceptedTransactionIds }) => ({ acceptingBlockHash, acceptedTransactionIds }),
        ),
      };
      const difference = firstDifference({ status: 200, body: expected }, fromApi);
      if (difference !== undefined) wrong.push(`getVirtualChainFromBlock ${JSON.stringify(request)}: ${difference}`);
    }
  });
  return wrong;
}

/** As many ids as a request may have. */
const IDS_AT_ONCE = 500;
const UNKNOWN_ID = 'ab'.repeat(32);

export async function compareAcceptance(api: ApiClient, dag: NodeDag): Promise<string[]> {
  const wrong: string[] = [];
  const ids = dag.transactionIds.toSorted();
  await inParallel(chunks([UNKNOWN_ID, ...ids], IDS_AT_ONCE), async (transactionIds) => {
    const expected = transactionIds.map((transactionId) => {
      const accepting = dag.acceptedBy.get(transactionId);
      return {
        transactionId,
        isAccepted: accepting !== undefined,
        acceptingBlockHash: accepting?.hash ?? null,
        confirmations: accepting === undefined ? 0 : Number(dag.sink.header.blueScore - accepting.header.blueScore),
      };
    });
    const answer = await api.post('/v1/transactions/acceptance', { transactionIds });
    const difference = firstDifference({ status: 200, body: { transactions: expected } }, answer);
    if (difference !== undefined) wrong.push(`acceptance: ${difference}`);
  });
  return wrong;
}

/** getVirtualChainFromBlock from every recorded start, and what getCurrentBlockColor and getBlockRewardInfo say of a block. */
import { Findings, requests, type Harness, statusOf } from './harness.ts';

/** The API has no minConfirmationCount. */
export async function compareVirtualChains(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getVirtualChainFromBlock')) {
    if ((request.minConfirmationCount ?? 0n) > 0n) continue;
    const { startHash, includeAcceptedTransactionIds } = request;
    const answer = await harness.api.post('/v1/rpc/getVirtualChainFromBlock', {
      startHash,
      includeAcceptedTransactionIds,
    });
    const { removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds, error } = response;
    const accepted = acceptedTransactionIds.map((group) => ({
      acceptingBlockHash: group.acceptingBlockHash,
      acceptedTransactionIds: group.acceptedTransactionIds,
    }));
    const body = { removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds: accepted };
    const wanted = error === undefined ? { body } : { status: statusOf(error.message) };
    findings.compare(`virtual chain from ${startHash}`, answer, wanted);
  }
  return findings;
}

/** In the look-up of a block. Blocks that the virtual block does not merge are unknown to an index, and as good as not merged. */
export async function compareColours(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getCurrentBlockColor')) {
    // No path: the node was asked for a block without a name.
    if (request.hash === '') continue;
    const recorded = response.blue ? 'blue' : 'red';
    const { color } = await getMerged(harness, request.hash);
    const wanted = response.error === undefined ? recorded : null;
    findings.add(color === wanted ? [] : [`${request.hash} is ${color}, not ${wanted}`], 1);
  }
  for (const { request, response } of requests(harness, 'getBlockRewardInfo')) {
    if (response.error !== undefined) continue;
    const wanted = response.mergingChainBlockHash ?? null;
    const { mergingBlockHash } = await getMerged(harness, request.hash);
    findings.add(
      mergingBlockHash === wanted ? [] : [`${request.hash} is merged by ${mergingBlockHash}, not ${wanted}`],
      1,
    );
  }
  return findings;
}

interface Merged {
  color: string | null;
  mergingBlockHash: string | null;
}

async function getMerged({ api }: Harness, hash: string): Promise<Merged> {
  const { status, body } = await api.get(`/v1/blocks/${hash}`);
  return status === 200 ? (body['block'] as Merged) : { color: null, mergingBlockHash: null };
}

/** Listings and look-ups of blocks, and the listings of what addresses hold, against what the node says of each. */
import { type NodeClient, NodeRpcError, type protocol } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { firstDifference } from './first-difference.ts';
import { inParallel } from './in-parallel.ts';
import type { NodeDag } from './node-dag.ts';
import { walk } from './walk.ts';

type Json = Record<string, unknown>;

/** Every block of the listing, with its colour as the node tells it; each look-up is the listing's, and the node's block. */
export async function compareRestBlocks(node: NodeClient, api: ApiClient, dag: NodeDag): Promise<string[]> {
  const listed = await walk(api, '/v1/blocks', 'blocks', ({ hash }) => String(hash));
  const merging = mergingBlocks(dag);
  const wrong: string[] = [];
  if (new Set(listed.map(({ hash }) => hash)).size !== listed.length) wrong.push('the listing has a block twice');
  for (const hash of dag.blocks.keys()) {
    if (!listed.some((block) => block['hash'] === hash)) wrong.push(`the listing lacks block ${hash}`);
  }
  await inParallel(listed, async (shown) => {
    const hash = String(shown['hash']);
    const { block } = await node.call('getBlock', { hash, includeTransactions: false });
    const expected = block && (await expectedRestBlock(node, block, merging.get(hash)));
    const difference = firstDifference(expected, shown);
    if (difference !== undefined) wrong.push(`block ${hash}: ${difference}`);
    const { body } = await api.get(`/v1/blocks/${hash}`);
    const { header, verboseData, confirmations, ...rest } = (body['block'] ?? {}) as Json;
    const plain = (await api.post('/v1/rpc/getBlock', { hash })).body['block'];
    const lookUp = firstDifference({ block: plain, shown }, { block: { header, verboseData }, shown: rest });
    if (lookUp !== undefined) wrong.push(`look-up of block ${hash}: ${lookUp}`);
    if (confirmations !== expectedConfirmations(dag, block, merging.get(hash))) {
      wrong.push(`look-up of block ${hash}: ${String(confirmations)} confirmations`);
    }
  });
  return wrong;
}

/** By the hash of a block: the chain block in whose mergeset it is. */
function mergingBlocks({ chain, blocks }: NodeDag): Map<string, protocol.Block> {
  return new Map(
    chain.flatMap(({ hash }) => {
      const block = blocks.get(hash);
      const { mergeSetBluesHashes = [], mergeSetRedsHashes = [] } = block?.verboseData ?? {};
      return block === undefined
        ? []
        : [...mergeSetBluesHashes, ...mergeSetRedsHashes].map((merged) => [merged, block] as const);
    }),
  );
}

async function expectedRestBlock(
  node: NodeClient,
  { header, verboseData }: protocol.Block,
  merging: protocol.Block | undefined,
): Promise<Json> {
  return {
    hash: verboseData?.hash,
    blueScore: String(header?.blueScore),
    daaScore: String(header?.daaScore),
    timestamp: Number(header?.timestamp),
    isChainBlock: verboseData?.isChainBlock,
    color: await colorOf(node, verboseData?.hash ?? ''),
    mergingBlockHash: merging?.verboseData?.hash ?? null,
    transactionCount: verboseData?.transactionIds.length,
  };
}

/** Null for a block that nothing merges: the node has an error for those. */
async function colorOf(node: NodeClient, hash: string): Promise<'blue' | 'red' | null> {
  try {
    return (await node.call('getCurrentBlockColor', { hash })).blue ? 'blue' : 'red';
  } catch (error) {
    if (error instanceof NodeRpcError && error.kind === 'not-found') return null;
    throw error;
  }
}

function expectedConfirmations(
  { sink }: NodeDag,
  block: protocol.Block | undefined,
  merging: protocol.Block | undefined,
): number {
  const counted = block?.verboseData?.isChainBlock === true ? block : merging;
  return counted?.header === undefined ? 0 : Number(sink.header.blueScore - counted.header.blueScore);
}

/** Listings and look-ups of blocks against the responses of a node. */
import { NodeRpcError, type protocol } from '@kasgres/node';
import { type DagComparison, firstDifference, inParallel, type Json, readListing } from './comparison.ts';
import type { ChainBlock } from './node-dag.ts';

/**
 * Compares every listed block, or only the blocks with these hashes, with the node's block and
 * colour, and with its look-up. The listing must have every block of the DAG.
 */
export async function compareRestBlocks(
  { node, api, dag }: DagComparison,
  only?: ReadonlySet<string>,
): Promise<string[]> {
  const listed = await readListing(api, '/v1/blocks', 'blocks', ({ hash }) => String(hash));
  const hashes = new Set(listed.map(({ hash }) => hash));
  const faults = [...dag.blocks.keys()]
    .filter((hash) => !hashes.has(hash))
    .map((hash) => `block ${hash} is not listed`);
  if (hashes.size !== listed.length) faults.push('the listing has a block twice');
  const compared = listed.filter(({ hash }) => only?.has(String(hash)) ?? true);
  await inParallel(compared, async (shown) => {
    const hash = String(shown['hash']);
    const { block } = await node.call('getBlock', { hash, includeTransactions: false });
    if (block?.header === undefined) throw new Error(`the node has no header of block ${hash}`);
    const merging = dag.mergedBy.get(hash);
    const counted = block.verboseData?.isChainBlock === true ? block.header : merging?.header;
    const { json } = await api.get(`/v1/blocks/${hash}`);
    const { header, verboseData, confirmations, reward, ...others } = (json['block'] ?? {}) as Json;
    const { miner: _1, subsidy: _2, fees: _3, redReward: _4, rewardTransactionId: _5, ...lookedUp } = others;
    const expected = expectedRestBlock(block, merging, await colorOf(node, hash));
    const difference = firstDifference(
      {
        listed: expected,
        lookedUp: expected,
        reward: (await rewardOf(node, hash)) ?? reward,
        confirmations: counted === undefined ? 0 : Number(dag.sink.header.blueScore - counted.blueScore),
        block: (await api.post('/v1/rpc/getBlock', { hash })).json['block'],
      },
      { listed: shown, lookedUp, reward, confirmations, block: { header, verboseData } },
    );
    if (difference !== undefined) faults.push(`block ${hash}: ${difference}`);
  });
  return faults;
}

/**
 * Returns undefined where the node does not say: for blocks that are not merged, or if it has no
 * such call.
 */
async function rewardOf(node: DagComparison['node'], hash: string): Promise<string | undefined> {
  const info = await node.call('getBlockRewardInfo', { hash }).catch(() => undefined);
  return info?.rewardAmount === undefined ? undefined : String(info.rewardAmount);
}

function expectedRestBlock(
  { header, verboseData }: protocol.Block,
  merging: ChainBlock | undefined,
  color: 'blue' | 'red' | null,
): Json {
  return {
    hash: verboseData?.hash,
    blueScore: String(header?.blueScore),
    daaScore: String(header?.daaScore),
    timestamp: Number(header?.timestamp),
    isChainBlock: verboseData?.isChainBlock,
    color,
    mergingBlockHash: merging?.hash ?? null,
    transactionCount: verboseData?.transactionIds.length,
  };
}

/** Returns null for a block that no chain block merges: the node responds with an error. */
async function colorOf(node: DagComparison['node'], hash: string): Promise<'blue' | 'red' | null> {
  try {
    return (await node.call('getCurrentBlockColor', { hash })).blue ? 'blue' : 'red';
  } catch (error) {
    if (error instanceof NodeRpcError && error.kind === 'not-found') return null;
    throw error;
  }
}

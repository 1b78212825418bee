/** GET /v1/blocks/{hash} and getBlock: one block by its hash. */
import { z } from 'zod';
import type { IndexState, Reading } from '../../index-state/state.ts';
import { queryFlag } from '../../pages/page-query.ts';
import { indexRoute } from '../../route.ts';
import { block, type BlockJson } from '../../schemas/block.ts';
import { flag, hashInput } from '../../schemas/values.ts';
import { unknownItem } from '../chain/segments.ts';
import { loadBlocks } from './load-blocks.ts';
import { blockDetails, findBlockId, listRestBlocks, type RestBlockRow, toRestBlock } from './rest-blocks.ts';

async function loadBlock(
  reading: Reading,
  hash: Uint8Array,
  withTransactions: boolean,
): Promise<{ id: bigint; block: BlockJson }> {
  const id = await findBlockId(reading.db, hash);
  if (id === undefined) throw await unknownItem(reading, 'block');
  const [block] = await loadBlocks(reading, [id], withTransactions);
  return { id, block: block as BlockJson };
}

/** Counts from the chain block with which the block became effective, itself or its merging block. */
function countConfirmations(row: RestBlockRow, { sinkBlueScore }: IndexState): number {
  const blueScore = row.is_chain_block ? row.blue_score : row.merging_block_blue_score;
  return blueScore === null ? 0 : Number(sinkBlueScore - BigInt(blueScore));
}

export const getBlockDetails = indexRoute(
  {
    method: 'GET',
    url: '/v1/blocks/:hash',
    operationId: 'getBlockDetails',
    summary: 'One block by its hash, with its position relative to the chain',
    tag: 'Block',
    cost: 0.1,
    params: z.strictObject({ hash: hashInput }),
    query: z.strictObject({
      include_transactions: queryFlag.meta({ description: 'Include whole transactions, not only their ids' }),
    }),
    response: z.object({ block: blockDetails }),
    errors: [404],
  },
  async (reading, { params, query }) => {
    const { id, block } = await loadBlock(reading, params.hash, query.include_transactions);
    const [row] = await listRestBlocks(reading.db, [id]);
    if (row === undefined) throw new Error(`block ${id} has no row`);
    return { block: { ...block, ...toRestBlock(row), confirmations: countConfirmations(row, reading.state) } };
  },
);

export const getBlock = indexRoute(
  {
    method: 'POST',
    url: '/v1/rpc/getBlock',
    operationId: 'getBlock',
    summary: 'One block by its hash',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    tagOf: 'content',
    body: z.strictObject({ hash: hashInput, includeTransactions: flag }),
    response: z.object({ block }),
    errors: [404],
  },
  async (reading, { body }) => {
    const { block } = await loadBlock(reading, body.hash, body.includeTransactions);
    return { block };
  },
);

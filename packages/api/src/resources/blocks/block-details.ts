/** GET /v1/blocks/{hash} and getBlock: one block by its hash. */
import { z } from 'zod';
import type { Reading } from '../../index-state/state.ts';
import { queryFlag } from '../../pages/page-query.ts';
import { indexRoute } from '../../route.ts';
import { block, type BlockJson } from '../../schemas/block.ts';
import { count, flag, hashInput } from '../../schemas/values.ts';
import { unknownItem } from '../chain/segments.ts';
import { indexRows, lookUp, rpc } from '../shared.ts';
import { loadBlocks } from './load-blocks.ts';
import { findBlockId, listRestBlocks, restBlock, toRestBlock } from './rest-blocks.ts';

const blockDetails = z
  .object({
    ...block.shape,
    ...restBlock.shape,
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the block, if it is a chain block, else of its merging block; 0 if not merged',
    }),
  })
  .meta({ id: 'BlockDetails' });

async function loadBlock(reading: Reading, hash: Uint8Array, withTransactions: boolean) {
  const id = await findBlockId(reading.db, hash);
  if (id === undefined) throw await unknownItem(reading, 'block');
  const [block] = await loadBlocks(reading, [id], withTransactions);
  return { id, block: block as BlockJson };
}

export const getBlockDetails = indexRoute(
  {
    ...lookUp('Block', '/v1/blocks/:hash', 'getBlockDetails'),
    summary: 'One block by its hash, with its position relative to the chain',
    params: z.strictObject({ hash: hashInput }),
    query: z.strictObject({
      include_transactions: queryFlag.meta({ description: 'Include whole transactions, not only their ids' }),
    }),
    response: z.object({ block: blockDetails }),
    errors: [404],
  },
  async (reading, { params, query }) => {
    const { id, block } = await loadBlock(reading, params.hash, query.include_transactions);
    const row = indexRows(await listRestBlocks(reading.db, [id]))(id);
    const { sinkBlueScore } = reading.state;
    const confirmations = Number(sinkBlueScore - (row.effectiveBlueScore ?? sinkBlueScore));
    return { block: { ...block, ...toRestBlock(row), confirmations } };
  },
);

export const getBlock = indexRoute(
  {
    ...rpc('POST', 'getBlock'),
    summary: 'One block by its hash',
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

/** GET /v1/blocks: blocks in the order in which they were first written, newest first. */
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { pageMetadata, pageQuery, queryFlag } from '../../pages/page-query.ts';
import { readPage, type Slice } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { hashInput } from '../../schemas/values.ts';
import { findBlockId, loadRestBlocks, restBlock } from './rest-blocks.ts';

async function listBlockIds(db: Db, { from, isBackward, limit }: Slice<bigint>): Promise<bigint[]> {
  const rows = await db
    .selectFrom('blocks')
    .select('id')
    .$if(from !== undefined, (blocks) => blocks.where('id', isBackward ? '>' : '<', from as bigint))
    .orderBy('id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Reads chain_blocks, since between two chain blocks there may be any number of others. */
async function listChainBlockIds(db: Db, { from, isBackward, limit }: Slice<bigint>): Promise<bigint[]> {
  const rows = await db
    .selectFrom('chain_blocks')
    .select('block_id')
    .$if(from !== undefined, (blocks) => blocks.where('block_id', isBackward ? '>' : '<', from as bigint))
    .orderBy('block_id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ block_id }) => block_id);
}

export const listBlocks = indexRoute(
  {
    method: 'GET',
    url: '/v1/blocks',
    operationId: 'listBlocks',
    summary: 'Blocks, newest first',
    tag: 'Block',
    cost: 0.5,
    query: pageQuery(hashInput, {
      chain_only: queryFlag.meta({ description: 'Only blocks of the virtual selected parent chain' }),
    }),
    response: z.object({
      blocks: z.array(restBlock).meta({ description: 'Newest first' }),
      metadata: pageMetadata,
    }),
    errors: [404],
  },
  async ({ db }, { query }) => {
    const listIds = query.chain_only ? listChainBlockIds : listBlockIds;
    const { rows, metadata } = await readPage(query, {
      findPosition: (hash) => findBlockId(db, hash),
      list: (slice) => listIds(db, slice),
    });
    return { blocks: await loadRestBlocks(db, rows), metadata };
  },
);

/** GET /v1/blocks: blocks in the order in which they were first written, newest first. */
import { z } from 'zod';
import { pageQuery, queryFlag } from '../../pages/page-query.ts';
import { listKeys, readPage } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { hashInput } from '../../schemas/values.ts';
import { listing, page } from '../shared.ts';
import { findBlockId, loadRestBlocks, restBlock } from './rest-blocks.ts';

const ALL_BLOCKS = { table: 'blocks', column: 'id' };
/** Between two chain blocks there may be any number of others, so these are read from their own table. */
const CHAIN_BLOCKS = { table: 'chain_blocks', column: 'block_id' };

export const listBlocks = indexRoute(
  {
    ...listing('Block', '/v1/blocks', 'listBlocks'),
    summary: 'Blocks, newest first',
    query: pageQuery(hashInput, {
      chain_only: queryFlag.meta({ description: 'Only blocks of the virtual selected parent chain' }),
    }),
    response: page({ blocks: z.array(restBlock).meta({ description: 'Newest first' }) }),
  },
  async ({ db }, { query }) => {
    const { rows, metadata } = await readPage(query, {
      findPosition: (hash) => findBlockId(db, hash),
      list: (slice) => listKeys(db, query.chain_only ? CHAIN_BLOCKS : ALL_BLOCKS, slice),
    });
    return { blocks: await loadRestBlocks(db, rows), metadata };
  },
);

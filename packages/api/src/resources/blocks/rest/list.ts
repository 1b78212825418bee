/** GET /v1/blocks: the newest blocks, by the order in which they were first written. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../../index-state/answer.ts';
import { pageMetadata, pageQuery, queryFlag } from '../../../pages/page-query.ts';
import { readPage, type Slice } from '../../../pages/read-page.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import { hashInput } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { findBlockId } from './find-block.ts';
import { loadRestBlocks } from './load-rest-blocks.ts';
import { restBlock } from './schemas.ts';

const query = pageQuery(hashInput, {
  chain_only: queryFlag.meta({ description: 'Only blocks of the virtual selected parent chain' }),
});

const page = z.object({ blocks: z.array(restBlock).meta({ description: 'Newest first' }), metadata: pageMetadata });

/** Keys of the slice, nearest to its start first. */
async function listBlockIds(db: Kysely<Database>, { from, isBackward, limit }: Slice<bigint>): Promise<bigint[]> {
  const rows = await db
    .selectFrom('blocks')
    .select('id')
    .$if(from !== undefined, (blocks) => blocks.where('id', isBackward ? '>' : '<', from as bigint))
    .orderBy('id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The same of the chain alone, from the table that holds nothing else: between two of its blocks may be any number of others. */
async function listChainBlockIds(db: Kysely<Database>, { from, isBackward, limit }: Slice<bigint>): Promise<bigint[]> {
  const rows = await db
    .selectFrom('chain_blocks')
    .select('block_id')
    .$if(from !== undefined, (blocks) => blocks.where('block_id', isBackward ? '>' : '<', from as bigint))
    .orderBy('block_id', isBackward ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ block_id }) => block_id);
}

export const listBlocksRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/blocks',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'listBlocks',
        summary: 'Blocks, newest first',
        tags: ['Block'],
        querystring: query,
        response: answers(page, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async ({ db }) => {
        const listIds = request.query.chain_only ? listChainBlockIds : listBlockIds;
        const { rows, metadata } = await readPage(request.query, {
          findPosition: (hash) => findBlockId(db, hash),
          list: (slice) => listIds(db, slice),
        });
        return { blocks: await loadRestBlocks(db, rows), metadata };
      }),
  );
};

/** GET /v1/blocks: blocks in the order in which they were first written, newest first. */
import { hashInput, type ParameterOf, restBlock, restBlocks, statementsBy } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { cursorOf, keyPage, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery, queryFlag } from '../../pages/page-query.ts';
import { statementRoute } from '../../openapi/route.ts';
import { listing, page } from '../shared.ts';

const ALL_BLOCKS = { table: 'blocks', column: 'id' };
/**
 * Between two chain blocks there may be any number of others, so these are read from their own
 * table.
 */
const CHAIN_BLOCKS = { table: 'chain_blocks', column: 'block_id' };

const blockPage = statementsBy(
  'blocks',
  (parameter: ParameterOf<PageParameters>, { start, chainOnly }: { start: PageStart; chainOnly: boolean }) => {
    const cursorKey: RawBuilder<bigint | null> =
      sql`(select id from blocks where hash = ${parameter('cursor', 'bytea')})`;
    const source = { ...(chainOnly ? CHAIN_BLOCKS : ALL_BLOCKS), cursorKey };
    const { items, metadata, ...parts } = keyPage(parameter, start, source);
    return { ...parts, body: jsonBuildObject({ blocks: restBlocks(items), metadata }) };
  },
);

export const listBlocks = statementRoute(
  {
    ...listing('Block', '/v1/blocks', 'listBlocks'),
    summary: 'Blocks, newest first',
    query: pageQuery(hashInput, {
      chain_only: queryFlag.meta({ description: 'Only blocks of the virtual selected parent chain' }),
    }),
    response: page({ blocks: z.array(restBlock).meta({ description: 'Newest first' }) }),
  },
  ({ query }) =>
    blockPage({ start: startOf(query), chainOnly: query.chain_only }).with({
      limit: query.limit,
      cursor: cursorOf(query),
    }),
  pageProblems,
);

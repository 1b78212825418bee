/**
 * GET /v1/blocks/{hash}/transactions: what a block contains, or what a chain block accepts, in
 * pages.
 */
import {
  hashInput,
  hasTransactionId,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
  unknownItem,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { statementRoute } from '../../openapi/route.ts';
import { listing, page } from '../shared.ts';
import { includePayload, restTransaction } from '../transactions/rest/schemas.ts';
import { addPrograms, includeParts, type Parts, partsOf, tagOfParts } from '../transactions/rest/programs.ts';
import { tagsByAddress, tagsOfPage } from '../transactions/rest/tags.ts';
import { boundByBytes, restTransactions } from '../transactions/rest/select-transactions.ts';

const relation = z.enum(['contained', 'accepted']);

interface Variant extends Parts {
  relation: z.infer<typeof relation>;
  start: PageStart;
}

const SOURCES = {
  contained: sql`select transaction_id as key, index::bigint as position from block_transactions
    where block_id = (select id from block)`,
  accepted: sql`
    select accepted.key, accepted.position from chain_blocks
    cross join unnest(chain_blocks.accepted_transactions)
      with ordinality as accepted (key, position)
    where chain_blocks.block_id = (select id from block)`,
};

/**
 * Where to look a cursor up: a reorg may have removed the block from the chain since, which then
 * accepts nothing, and may be undone.
 */
const CURSORS = {
  contained: sql`listed`,
  accepted: sql`(
    select key, position from listed
    union all
    select accepted.key, accepted.position from removed_chain_blocks
    cross join unnest(removed_chain_blocks.accepted_transactions)
      with ordinality as accepted (key, position)
    where removed_chain_blocks.block_id = (select id from block)) known`,
};

const transactionPage = statementsBy(
  'transactions of a block',
  (
    parameter: ParameterOf<PageParameters & { hash: Uint8Array }>,
    { relation, start, withTags, ...options }: Variant,
  ) => {
    const limit = parameter('limit', 'bigint');
    const [behind, order] = start === 'before' ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`];
    const { items, metadata, problem } = pageParts(limit, start, { isBounded: true });
    return {
      tables: {
        block: sql`select id from blocks where hash = ${parameter('hash', 'bytea')}`,
        listed: SOURCES[relation],
        ...(start !== 'first' && {
          cursor: sql`
            select (select position from ${CURSORS[relation]} where key in (
              select id from transactions
                where ${hasTransactionId('transactions', parameter('cursor', 'bytea'))})
                  limit 1) as key`,
        }),
        page: boundByBytes(options.includePayload)(
          sql`
          select key, row_number() over (order by position ${order}) as position from (
            select * from listed ${start === 'first' ? sql`` : sql`where position ${behind} (select key from cursor)`}
            order by position ${order} limit ${limit} + 1) nearest`,
          limit,
        ),
      },
      problem: sql<
        string | null
      >`case when not exists (select from block) then 'unknown' else ${problem ?? sql`null`} end`,
      body: jsonBuildObject({
        transactions: restTransactions(items, options),
        metadata,
        ...(withTags && { tags: tagsOfPage(items) }),
      }),
    };
  },
);

export const listBlockTransactions = statementRoute(
  {
    ...listing('Block', '/v1/blocks/:hash/transactions', 'listBlockTransactions'),
    summary: 'Transactions that a block contains, or that a chain block accepts',
    tagOf: ({ query }) => tagOfParts(query.include),
    params: z.strictObject({ hash: hashInput }),
    query: pageQuery(hashInput, {
      relation: relation.default('contained').meta({
        description:
          '`contained`: in the order of the block; `accepted`: in the order of acceptance, nothing if the block is not on the chain',
      }),
      include_payload: includePayload,
      include: includeParts,
    }),
    response: page({
      transactions: z.array(restTransaction).meta({ description: 'In the order of the block' }),
      tags: tagsByAddress.optional(),
    }),
    finishOf: ({ query }) => addPrograms(query.include, query.include_payload),
  },
  ({ params: { hash }, query }, settled) => {
    requireCaughtUp(settled);
    const variant = {
      relation: query.relation,
      start: startOf(query),
      ...partsOf(query.include_payload, query.include),
    };
    return transactionPage(variant).with({ hash, limit: query.limit, cursor: cursorOf(query) });
  },
  { ...pageProblems, unknown: (state) => unknownItem(state, 'block') },
);

/** GET /v1/blocks/{hash}, and getBlock. */
import {
  block,
  blockFields,
  type BlockJson,
  count,
  flag,
  hashInput,
  type IndexState,
  joinMerging,
  jsonObject,
  type ParameterOf,
  restBlock,
  restBlockFields,
  sinkBlueScore,
  statementsBy,
  unknownItem,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { queryFlag } from '../../pages/page-query.ts';
import { statementRoute } from '../../openapi/route.ts';
import { includeTags, tagsByAddress, tagsOfScripts } from '../transactions/rest/tags.ts';
import { lookUp, rpc } from '../shared.ts';
import { blockRewards, joinRewards, rewardFields } from './rewards.ts';

const blockDetails = z
  .object({
    ...block.shape,
    ...restBlock.shape,
    confirmations: count.meta({
      description:
        'Blue score of the sink less that of the block, if it is a chain block, else of its merging block; 0 if not merged',
    }),
    ...blockRewards,
  })
  .meta({ id: 'BlockDetails' });

export type BlockDetailsJson = z.infer<typeof blockDetails>;

interface Variant {
  includeTransactions: boolean;
}

/** The tags of the addresses in its transactions, and of its miner. */
const tagsOfBlock = tagsOfScripts(sql`
  select script_deltas.script_id
  from block join block_transactions contained on contained.block_id = block.id
  join script_deltas on script_deltas.transaction_id = contained.transaction_id
  union select miner_script_id from block`);

/** Builds a statement for one block by its hash. */
const oneBlock = <Response>(
  parameter: ParameterOf<{ hash: Uint8Array }>,
  block: RawBuilder<Response>,
  joins: RawBuilder<unknown> = sql``,
  withTags = false,
) => ({
  tables: { block: sql`select * from blocks where hash = ${parameter('hash', 'bytea')}` },
  problem: sql<string | null>`case when not exists (select from block) then 'unknown' end`,
  body: jsonBuildObject({
    block: sql<Response>`(select ${block} from block ${joinMerging} ${joins})`,
    ...(withTags && { tags: tagsOfBlock }),
  }),
});

const problems = { unknown: (state: IndexState) => unknownItem(state, 'block') };

/** A block becomes effective with itself, if it is on the chain, or with its merging block. */
const confirmations: RawBuilder<number> = sql`coalesce(
  ${sinkBlueScore} - case when block.is_chain_block then block.blue_score else merging.blue_score end, 0)`;

export const blockDetailsByHash = statementsBy(
  'block details',
  (
    parameter: ParameterOf<{ hash: Uint8Array; window: bigint }>,
    { includeTransactions, withTags }: Variant & { withTags: boolean },
  ) =>
    oneBlock(
      parameter,
      jsonObject<BlockDetailsJson>({
        ...blockFields(includeTransactions),
        ...restBlockFields,
        confirmations,
        ...rewardFields,
      }),
      joinRewards(parameter('window', 'bigint')),
      withTags,
    ),
);

export const getBlockDetails = statementRoute(
  {
    ...lookUp('Block', '/v1/blocks/:hash', 'getBlockDetails'),
    summary: 'One block by its hash, with its position relative to the chain',
    tagOf: 'content',
    params: z.strictObject({ hash: hashInput }),
    query: z.strictObject({
      include_transactions: queryFlag.meta({ description: 'Include whole transactions, not only their ids' }),
      include: includeTags,
    }),
    response: z.object({ block: blockDetails, tags: tagsByAddress.optional() }),
    errors: [404],
  },
  ({ params, query }, { network }) =>
    blockDetailsByHash({
      includeTransactions: query.include_transactions,
      withTags: query.include !== undefined,
    }).with({
      ...params,
      window: network.difficultyWindowBlueScores,
    }),
  problems,
);

const blockByHash = statementsBy(
  'block',
  (parameter: ParameterOf<{ hash: Uint8Array }>, { includeTransactions }: Variant) =>
    oneBlock(parameter, jsonObject<BlockJson>(blockFields(includeTransactions))),
);

export const getBlock = statementRoute(
  {
    ...rpc('POST', 'getBlock'),
    summary: 'One block by its hash',
    tagOf: 'content',
    body: z.strictObject({ hash: hashInput, includeTransactions: flag }),
    response: z.object({ block }),
    errors: [404],
  },
  ({ body }) => blockByHash({ includeTransactions: body.includeTransactions }).with(body),
  problems,
);

/**
 * GET /v1/blocks/daa-score/{start}/{end}: all blocks in a range of DAA scores, and their
 * transactions.
 */
import {
  conflict,
  findFirstBlock,
  listGaps,
  type Reading,
  readJson,
  requireCaughtUp,
  restBlock,
  restBlocks,
  uint64Input,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { keysInOrder } from '../../pages/key-page.ts';
import { indexRoute } from '../../openapi/route.ts';
import { lookUp, toStoredScore } from '../shared.ts';
import { restTransaction } from '../transactions/rest/schemas.ts';
import { describeAll, includeParts, partsOf, tagOfParts } from '../transactions/rest/programs.ts';
import { tagsByAddress, tagsOfPage } from '../transactions/rest/tags.ts';
import { restTransactions, upToMaxBytes } from '../transactions/rest/select-transactions.ts';

const MAX_SPAN = 100n;
/** Anybody can mine any number of blocks on the same parents, which have the same score. */
const MAX_BLOCKS = 1_000;
const MAX_TRANSACTIONS = 10_000;

const params = z
  .strictObject({
    start: uint64Input.meta({ description: 'Lowest DAA score' }),
    end: uint64Input.meta({ description: `Highest DAA score: from \`start\` to \`start\` + ${MAX_SPAN}` }),
  })
  .refine(({ start, end }) => end >= start && end - start <= MAX_SPAN, {
    path: ['end'],
    message: `must be from start to start + ${MAX_SPAN}`,
    // Invalid scores have their own message, and are not compared.
    when: ({ issues }) => issues.length === 0,
  });

type Scores = z.output<typeof params>;

const blocksOf = ({ start, end }: Scores): RawBuilder<unknown> => sql`
  select id from blocks where daa_score >= ${toStoredScore(start)}
    and daa_score <= ${toStoredScore(end)}
  order by daa_score, hash limit ${sql.lit(MAX_BLOCKS + 1)}`;

/**
 * Selects the transactions of the blocks in `block`, each at its first position: one more than a
 * response has.
 */
const containedInBlocks = sql`
  select contained.transaction_id
  from block join block_transactions contained on contained.block_id = block.key
  where block.position <= ${sql.lit(MAX_BLOCKS)}
  group by contained.transaction_id
  order by min(array[block.position, contained.index]) limit ${sql.lit(MAX_TRANSACTIONS + 1)}`;

const upTo = (table: string, last: number): RawBuilder<unknown> =>
  sql`select * from ${sql.table(table)} where position <= ${sql.lit(last)}`;

/** Makes rows the `page` of an expression. */
const withPage = <T>(rows: RawBuilder<unknown>, json: RawBuilder<T>): RawBuilder<T> =>
  sql`(with page as materialized (${rows}) select ${json})`;

/** @throws HttpError 409 if blocks with these scores are not indexed */
async function requireIndexed(reading: Reading, { start, end }: Scores): Promise<void> {
  const first = await findFirstBlock(reading);
  if (first !== undefined && start < first.daaScore) {
    throw conflict(`The first indexed block, ${first.hash}, has DAA score ${first.daaScore}: start there or above`);
  }
  for (const { after, before } of await listGaps(reading)) {
    if (end > after.daaScore && start < before.daaScore && before.daaScore - after.daaScore > 1n) {
      throw conflict(
        `The chain is not indexed between ${after.hash}, at DAA score ${after.daaScore}, and ${before.hash}, at DAA score ${before.daaScore}`,
      );
    }
  }
}

const blocksAndTransactions = z.object({
  blocks: z.array(restBlock).meta({ description: 'Ascending by DAA score and hash' }),
  transactions: z
    .array(restTransaction)
    .meta({ description: 'The transactions of these blocks, each once, in the order of its first block' }),
  truncated: z
    .literal(true)
    .optional()
    .meta({
      description: `Present if blocks or transactions of the highest scores are left out: beyond ${MAX_BLOCKS} blocks, ${MAX_TRANSACTIONS} transactions or about 64 MiB (8 MiB with \`include=programs\`)`,
    }),
  tags: tagsByAddress.optional(),
});

export const getBlocksByDaaScore = indexRoute(
  {
    ...lookUp('Block', '/v1/blocks/daa-score/:start/:end', 'getBlocksByDaaScore'),
    summary: 'Blocks of up to 101 DAA scores, and their transactions',
    description: 'Scores before the first indexed block, if that is not genesis, or in a gap are a 409.',
    tagOf: ({ query }) => tagOfParts(query.include),
    params,
    query: z.strictObject({ include: includeParts }),
    response: blocksAndTransactions,
    errors: [409],
  },
  async (reading, { params: scores, query: { include } }) => {
    const { db, state } = reading;
    requireCaughtUp(state);
    await requireIndexed(reading, scores);
    const { withTags, ...options } = partsOf(false, include);
    const content = {
      blocks: withPage(upTo('block', MAX_BLOCKS), restBlocks(sql`order by page.position`)),
      transactions: withPage(sql`select * from shown`, restTransactions(sql`order by page.position`, options)),
      ...(withTags && { tags: withPage(sql`select * from shown`, tagsOfPage()) }),
    };
    const json = await readJson(db, {
      tables: {
        block: keysInOrder(blocksOf(scores)),
        contained: keysInOrder(containedInBlocks),
        shown: upToMaxBytes(upTo('contained', MAX_TRANSACTIONS), options),
      },
      body: sql`
        case when (select count(*) > ${sql.lit(MAX_BLOCKS)} from block)
            or (select count(*) from contained) > (select count(*) from shown)
          then ${jsonBuildObject({ ...content, truncated: sql<true>`true` })}
          else ${jsonBuildObject(content)} end`,
    });
    return options.withPrograms
      ? describeAll(JSON.parse(json.toString()) as z.output<typeof blocksAndTransactions>, reading.slices, false)
      : json;
  },
);

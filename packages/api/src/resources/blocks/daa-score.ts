/** GET /v1/blocks/daa-score/{start}/{end}: all blocks in a range of DAA scores, and their transactions. */
import { sql } from 'kysely';
import { z } from 'zod';
import { conflict } from '../../http/errors.ts';
import type { Db } from '../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { uint64Input } from '../../schemas/values.ts';
import { findFirstBlock, listGaps } from '../chain/segments.ts';
import { lookUp, toStoredScore } from '../shared.ts';
import { loadRestTransactions } from '../transactions/rest/load-rest-transactions.ts';
import { restTransaction } from '../transactions/rest/schemas.ts';
import { loadRestBlocks, restBlock } from './rest-blocks.ts';

const MAX_SPAN = 100n;

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

async function listBlockIds(db: Db, { start, end }: Scores): Promise<bigint[]> {
  const rows = await db
    .selectFrom('blocks')
    .select('id')
    .where('daa_score', '>=', toStoredScore(start))
    .where('daa_score', '<=', toStoredScore(end))
    .orderBy('daa_score')
    .orderBy('hash')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the keys of the transactions in blocks, in the order of the blocks, each at its first position. */
async function listContainedKeys(db: Db, blockIds: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await sql<{ key: bigint }>`
    select contained.transaction_id as key
    from unnest(${blockIds}::bigint[]) with ordinality as block (id, position)
    join block_transactions contained on contained.block_id = block.id
    order by block.position, contained.index`.execute(db);
  return [...new Set(rows.map(({ key }) => key))];
}

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

export const getBlocksByDaaScore = indexRoute(
  {
    ...lookUp('Block', '/v1/blocks/daa-score/:start/:end', 'getBlocksByDaaScore'),
    summary: 'Blocks of up to 101 DAA scores, and their transactions',
    description: 'Scores before the first indexed block, if that is not genesis, or in a gap are a 409.',
    cost: 0.5,
    params,
    response: z.object({
      blocks: z.array(restBlock).meta({ description: 'Ascending by DAA score and hash' }),
      transactions: z
        .array(restTransaction)
        .meta({ description: 'The transactions of these blocks, each once, in the order of its first block' }),
    }),
    errors: [409],
  },
  async (reading, { params: scores }) => {
    const { db, state } = reading;
    requireCaughtUp(state);
    await requireIndexed(reading, scores);
    const blockIds = await listBlockIds(db, scores);
    const keys = await listContainedKeys(db, blockIds);
    return {
      blocks: await loadRestBlocks(db, blockIds),
      transactions: await loadRestTransactions(reading, keys),
    };
  },
);

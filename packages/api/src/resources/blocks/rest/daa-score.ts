/** GET /v1/blocks/daa-score/{start}/{end}: all blocks of a stretch of DAA scores, and their transactions. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { conflict } from '../../../http/errors.ts';
import { respondFromIndex } from '../../../index-state/answer.ts';
import { anyOf } from '../../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import { uint64Input } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { findStart, listGaps } from '../../chain/parts.ts';
import { loadRestTransactions } from '../../transactions/rest/load-rest-transactions.ts';
import { restTransaction } from '../../transactions/rest/schemas.ts';
import { loadRestBlocks } from './load-rest-blocks.ts';
import { restBlock } from './schemas.ts';

const MAX_SPAN = 100n;
/** Scores are 64-bit without a sign on the network, and with one in Postgres. */
const MAX_STORED_SCORE = 2n ** 63n - 1n;

const params = z
  .strictObject({
    start: uint64Input.meta({ description: 'Lowest DAA score' }),
    end: uint64Input.meta({ description: `Highest DAA score: at least \`start\`, and at most ${MAX_SPAN} more` }),
  })
  .refine(({ start, end }) => end >= start && end - start <= MAX_SPAN, {
    path: ['end'],
    message: `must be from start to start + ${MAX_SPAN}`,
    // What is no score at all is said so, and not compared.
    when: ({ issues }) => issues.length === 0,
  });

const stretch = z.object({
  blocks: z.array(restBlock).meta({ description: 'Ascending by DAA score and hash' }),
  transactions: z
    .array(restTransaction)
    .meta({ description: 'Of these blocks, each once, in the order of its first block' }),
});

interface Scores {
  start: bigint;
  end: bigint;
}

/** Keys, in order. */
async function listBlockIds(db: Kysely<Database>, { start, end }: Scores): Promise<bigint[]> {
  if (start > MAX_STORED_SCORE) return [];
  const highest = end > MAX_STORED_SCORE ? MAX_STORED_SCORE : end;
  const rows = await db
    .selectFrom('blocks')
    .select('id')
    .where('daa_score', '>=', start)
    .where('daa_score', '<=', highest)
    .orderBy('daa_score')
    .orderBy('hash')
    .execute();
  return rows.map(({ id }) => id);
}

/** Keys of the transactions of blocks: block for block in the order of the ids, each at its first place. */
async function listContainedKeys(db: Kysely<Database>, blockIds: readonly bigint[]): Promise<bigint[]> {
  const rows = await db
    .selectFrom('block_transactions')
    .select(['block_id', 'transaction_id'])
    .where('block_id', '=', anyOf(blockIds))
    .orderBy('block_id')
    .orderBy('index')
    .execute();
  const byBlock = Map.groupBy(rows, (row) => row.block_id);
  return [...new Set(blockIds.flatMap((id) => byBlock.get(id) ?? []).map((row) => row.transaction_id))];
}

/** @throws HttpError 409 where not all blocks with these scores are indexed */
async function requireIndexed(reading: Reading, { start, end }: Scores): Promise<void> {
  const first = await findStart(reading);
  if (first !== undefined && start < first.daaScore) {
    throw conflict(`What is indexed begins with block ${first.hash}, at DAA score ${first.daaScore}`);
  }
  const gap = (await listGaps(reading)).find(
    ({ after, before }) => end > after.daaScore && start < before.daaScore && before.daaScore - after.daaScore > 1n,
  );
  if (gap === undefined) return;
  const { after, before } = gap;
  throw conflict(
    `The chain is not indexed between ${after.hash}, at DAA score ${after.daaScore}, and ${before.hash}, at DAA score ${before.daaScore}`,
  );
}

async function getStretch(reading: Reading, scores: Scores): Promise<z.infer<typeof stretch>> {
  const { db, state } = reading;
  requireCaughtUp(state);
  await requireIndexed(reading, scores);
  const blockIds = await listBlockIds(db, scores);
  const keys = await listContainedKeys(db, blockIds);
  return {
    blocks: await loadRestBlocks(db, blockIds),
    transactions: await loadRestTransactions(reading, keys, { includePayload: false }),
  };
}

export const daaScoreBlocksRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/blocks/daa-score/:start/:end',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'getBlocksByDaaScore',
        summary: 'The blocks of up to 101 DAA scores, and their transactions',
        description: 'Scores below the first block of the index, where that is not genesis, or in a gap are a 409.',
        tags: ['Block'],
        params,
        response: answers(stretch, 304, ...UNDER_KEY, 400, 409),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, (reading) => getStretch(reading, request.params)),
  );
};

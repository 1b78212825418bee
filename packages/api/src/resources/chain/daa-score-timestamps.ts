/**
 * Times of DAA scores: exact where the chain has a block with the score, interpolated between neighbours, also where these are the ends
 * of a gap, extrapolated above the sink. Before the index they are interpolated between genesis, what the node told the indexer
 * (`earlier_times`), and the first indexed block.
 */
import type { Database } from '@kasgres/database';
import { type DaaTimestamp, estimateTimestamp, type Network } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { list } from '../../schemas/list.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { milliseconds, uint64Input } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

const MAX_SCORES = 1000;
const MAX_INT64 = 2n ** 63n - 1n;

const body = z.strictObject({ daaScores: list(uint64Input, MAX_SCORES) });

const estimates = z.object({
  timestamps: z.array(milliseconds).meta({ description: 'One for each score, in the order asked' }),
});

/** The chain around a score; a part without a block is null. */
interface AroundRow {
  at_timestamp: bigint | null;
  below_daa_score: bigint | null;
  below_timestamp: bigint | null;
  above_daa_score: bigint | null;
  above_timestamp: bigint | null;
}

/** In the order of the scores. Genesis and the chain block on it share a score: at it is genesis, as the node has it. */
async function listAround(db: Kysely<Database>, scores: readonly bigint[]): Promise<AroundRow[]> {
  const withinBigint = scores.map((score) => (score > MAX_INT64 ? MAX_INT64 : score));
  const { rows } = await sql<AroundRow>`
    select at.timestamp as at_timestamp, below.daa_score as below_daa_score, below.timestamp as below_timestamp,
      above.daa_score as above_daa_score, above.timestamp as above_timestamp
    from unnest(${withinBigint}::bigint[]) with ordinality as asked (score, place)
    left join lateral (
      select timestamp from chain_blocks where daa_score = asked.score order by index limit 1
    ) at on true
    left join lateral (
      select daa_score, timestamp from chain_blocks where daa_score < asked.score order by daa_score desc, index desc limit 1
    ) below on true
    left join lateral (
      select daa_score, timestamp from chain_blocks where daa_score > asked.score order by daa_score, index limit 1
    ) above on true
    order by asked.place`.execute(db);
  return rows;
}

/** Ascending. The last of them, where there are others, is genesis. */
function knownPoints({ daaTimestamps, genesisDaaScore, genesisTimestamp }: Network): readonly DaaTimestamp[] {
  return daaTimestamps.length > 0 ? daaTimestamps : [{ daaScore: genesisDaaScore, timestamp: genesisTimestamp }];
}

/** The blocks around a score, ascending; none where the score is before the first indexed block. */
function toPoints(row: AroundRow): DaaTimestamp[] {
  const { below_daa_score, below_timestamp, above_daa_score, above_timestamp } = row;
  if (below_daa_score === null || below_timestamp === null) return [];
  const below = { daaScore: below_daa_score, timestamp: below_timestamp };
  if (above_daa_score === null || above_timestamp === null) return [below];
  return [below, { daaScore: above_daa_score, timestamp: above_timestamp }];
}

/** What is known up to the first indexed block, ascending, with that block. */
async function listPointsBeforeIndex(db: Kysely<Database>, network: Network): Promise<DaaTimestamp[]> {
  const first = await db
    .selectFrom('chain_blocks')
    .select(['daa_score', 'timestamp'])
    .orderBy('index')
    .limit(1)
    .executeTakeFirstOrThrow();
  const earlier = await db
    .selectFrom('earlier_times')
    .select(['daa_score', 'timestamp'])
    .orderBy('daa_score')
    .execute();
  const ofIndexer = [...earlier, first].map((row) => ({ daaScore: row.daa_score, timestamp: row.timestamp }));
  return [...knownPoints(network).filter(({ daaScore }) => daaScore < first.daa_score), ...ofIndexer];
}

async function getTimestamps({ db, state }: Reading, scores: readonly bigint[]): Promise<string[]> {
  const { network } = state;
  // While the first catch-up runs, what is above the index is the past, and not to be guessed.
  if (scores.some((score) => score > state.sinkDaaScore)) requireCaughtUp(state);
  const around = (await listAround(db, scores)).map((row) => ({ exact: row.at_timestamp, points: toPoints(row) }));
  const isSomeBeforeIndex = around.some(({ exact, points }) => exact === null && points.length === 0);
  const beforeIndex = isSomeBeforeIndex ? await listPointsBeforeIndex(db, network) : [];
  return around.map(({ exact, points }, place) => {
    const known = points.length > 0 ? points : beforeIndex;
    return String(exact ?? estimateTimestamp(scores[place] as bigint, known, network));
  });
}

export const daaScoreTimestampRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getDaaScoreTimestampEstimate',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getDaaScoreTimestampEstimate',
        summary: 'Times of up to 1,000 DAA scores',
        description:
          'That of the chain block with the score; between two blocks, and over a gap of the index, interpolated; above the sink reckoned with the time that the network aims at for a block; before the first indexed block interpolated between genesis, some thousand times that the node knows, and that block.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(estimates, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async (reading) => ({
        timestamps: await getTimestamps(reading, request.body.daaScores),
      })),
  );
};

/**
 * Times of DAA scores: exact where the chain has a block with the score, interpolated between neighbours, also where these are the ends
 * of a gap, extrapolated above the sink, and from the network's known points before the index.
 */
import type { Database } from '@kasgres/database';
import { type DaaTimestamp, estimateTimestamp, type Network } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { answerFromIndex } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { milliseconds, uint64Input } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

const MAX_SCORES = 1000;
const MAX_INT64 = 2n ** 63n - 1n;

const body = z.strictObject({ daaScores: z.array(uint64Input).max(MAX_SCORES) });

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

/** What is known around a score, ascending: before the first indexed block that are the points that the network is known by. */
function toPoints(row: AroundRow, known: readonly DaaTimestamp[]): DaaTimestamp[] {
  const { below_daa_score, below_timestamp, above_daa_score, above_timestamp } = row;
  const above =
    above_daa_score === null || above_timestamp === null
      ? []
      : [{ daaScore: above_daa_score, timestamp: above_timestamp }];
  if (below_daa_score === null || below_timestamp === null) {
    return [...known.filter((point) => above_daa_score === null || point.daaScore < above_daa_score), ...above];
  }
  return [{ daaScore: below_daa_score, timestamp: below_timestamp }, ...above];
}

async function getTimestamps({ db, state }: Reading, scores: readonly bigint[]): Promise<string[]> {
  // While the first catch-up runs, what is above the index is the past, and not to be guessed.
  if (scores.some((score) => score > state.sinkDaaScore)) requireCaughtUp(state);
  const known = knownPoints(state.network);
  const around = await listAround(db, scores);
  return around.map((row, place) => {
    const points = toPoints(row, known);
    return String(
      row.at_timestamp ?? estimateTimestamp(scores[place] as bigint, points, state.network.targetTimePerBlockMs),
    );
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
          'That of the chain block with the score; between two blocks, and over a gap of the index, interpolated; above the sink reckoned with the time that the network aims at for a block; before the first indexed block interpolated between the points that the network is known by, genesis among them, and that block.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(estimates, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) =>
      answerFromIndex(index, request, reply, async (reading) => ({
        timestamps: await getTimestamps(reading, request.body.daaScores),
      })),
  );
};

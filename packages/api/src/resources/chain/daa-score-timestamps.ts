/**
 * getDaaScoreTimestampEstimate: exact if the chain has a block with the score, else interpolated between its neighbours, also over a gap, and
 * extrapolated above the sink. Before the first indexed block, times are interpolated between genesis, times that the indexer got from the node
 * (`earlier_times`), and that block.
 */
import { type DaaTimestamp, estimateTimestamp } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import type { IndexState } from '../../index-state/index-state.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { list } from '../../schemas/list.ts';
import { milliseconds, uint64Input } from '../../schemas/values.ts';
import { rpc, toStoredScore } from '../shared.ts';

const MAX_SCORES = 1000;

/** A DAA score and a timestamp. */
type Point = [bigint, bigint];

/** The time of the chain block with a score, and the chain blocks around it. */
interface AroundRow {
  exact: bigint | null;
  below: Point | null;
  above: Point | null;
}

/** Returns rows in the order of the scores. Genesis shares its score with the next chain block: like the node, this uses genesis. */
async function listAround(db: Db, scores: readonly bigint[]): Promise<AroundRow[]> {
  const { rows } = await sql<AroundRow>`
    select at.timestamp as exact, below.point as below, above.point as above
    from unnest(${scores.map(toStoredScore)}::bigint[]) with ordinality as requested (score, position)
    left join lateral (
      select timestamp from chain_blocks where daa_score = requested.score order by index limit 1
    ) at on true
    left join lateral (
      select array[daa_score, timestamp] as point from chain_blocks
      where daa_score < requested.score order by daa_score desc, index desc limit 1
    ) below on true
    left join lateral (
      select array[daa_score, timestamp] as point from chain_blocks
      where daa_score > requested.score order by daa_score, index limit 1
    ) above on true
    order by requested.position`.execute(db);
  return rows;
}

function toPoints({ below, above }: AroundRow): DaaTimestamp[] {
  const around = below === null ? [] : above === null ? [below] : [below, above];
  return around.map(([daaScore, timestamp]) => ({ daaScore, timestamp }));
}

/** Lists known points up to the first indexed block, ascending. */
async function listPointsBeforeIndex(db: Db, { network }: IndexState): Promise<DaaTimestamp[]> {
  const { daaTimestamps, genesisDaaScore, genesisTimestamp } = network;
  const { rows } = await sql<DaaTimestamp>`
    (select daa_score as "daaScore", timestamp from earlier_times)
    union all (select daa_score, timestamp from chain_blocks order by index limit 1)
    order by "daaScore"`.execute(db);
  const first = rows.at(-1) as DaaTimestamp;
  // Genesis is the last of the known times of a network.
  const known = daaTimestamps.length > 0 ? daaTimestamps : [{ daaScore: genesisDaaScore, timestamp: genesisTimestamp }];
  return [...known.filter(({ daaScore }) => daaScore < first.daaScore), ...rows];
}

export const getDaaScoreTimestampEstimate = indexRoute(
  {
    ...rpc('POST', 'getDaaScoreTimestampEstimate'),
    summary: 'Times of up to 1,000 DAA scores',
    description:
      'The time of the chain block with the score; interpolated between two blocks, and over a gap of the index; extrapolated above the sink with the target block time; before the first indexed block, interpolated between genesis, some thousand times that the node knows, and that block.',
    body: z.strictObject({ daaScores: list(uint64Input, MAX_SCORES) }),
    response: z.object({
      timestamps: z.array(milliseconds).meta({ description: 'One for each score, in the given order' }),
    }),
  },
  async ({ db, state }, { body: { daaScores } }) => {
    // During the first catch-up, scores above the sink are in the past, and must not be extrapolated.
    if (daaScores.some((score) => score > state.sinkDaaScore)) requireCaughtUp(state);
    const around = await listAround(db, daaScores);
    const isSomeBeforeIndex = around.some(({ exact, below }) => exact === null && below === null);
    const beforeIndex = isSomeBeforeIndex ? await listPointsBeforeIndex(db, state) : [];
    const timestamps = around.map((row, index) => {
      const points = row.below === null ? beforeIndex : toPoints(row);
      return String(row.exact ?? estimateTimestamp(daaScores[index] as bigint, points, state.network));
    });
    return { timestamps };
  },
);

/**
 * getDaaScoreTimestampEstimate: exact if the chain has a block with the score, else interpolated
 * between its neighbours, also over a gap, and extrapolated above the sink. Before the first
 * indexed block, times are interpolated between genesis, times that the indexer got from the node
 * (`pre_bootstrap_times`), and that block.
 */
import type { Network } from '@kasgres/kaspa';
import { catchingUp, list, milliseconds, type ParameterOf, Statement, uint64Input } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { rpc, toStoredScore } from '../shared.ts';

const MAX_SCORES = 1000;
const MAX_UINT64 = sql.lit(2n ** 64n - 1n);

interface Parameters {
  scores: readonly bigint[];
  /** The scores as Postgres can compare them with those of blocks. */
  storedScores: readonly bigint[];
  /** Known points of the network up to genesis. */
  knownScores: readonly bigint[];
  knownTimes: readonly bigint[];
  targetTimeMs: number;
  /** The DAA score below which blocks were slower, and by how many milliseconds. */
  slowUntil: bigint;
  slowerByMs: number;
}

function parametersOf(daaScores: readonly bigint[], network: Network): Parameters {
  const { daaTimestamps, genesisDaaScore, genesisTimestamp, targetTimePerBlockMs, crescendo } = network;
  // Genesis is the last of the known times of a network.
  const known = daaTimestamps.length > 0 ? daaTimestamps : [{ daaScore: genesisDaaScore, timestamp: genesisTimestamp }];
  return {
    scores: daaScores,
    storedScores: daaScores.map(toStoredScore),
    knownScores: known.map(({ daaScore }) => daaScore),
    knownTimes: known.map(({ timestamp }) => timestamp),
    targetTimeMs: targetTimePerBlockMs,
    slowUntil: crescendo?.activationDaaScore ?? 0n,
    slowerByMs: crescendo === undefined ? 0 : crescendo.targetTimePerBlockMsBefore - targetTimePerBlockMs,
  };
}

const chainBlock = (condition: RawBuilder<unknown>, order: RawBuilder<unknown>) => sql`
  left join lateral (
    select daa_score, timestamp from chain_blocks where ${condition} order by ${order} limit 1
  )`;

/**
 * Does in SQL what `estimateTimestamp` of packages/kaspa does. Genesis shares its score with the
 * next chain block: like the node, this uses genesis.
 */
const timesOfScores = new Statement('times of DAA scores', (parameter: ParameterOf<Parameters>) => {
  const targetTime = parameter('targetTimeMs', 'bigint');
  /** Selects the target time between two scores, where `from <= to`. */
  const nominalTime = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) => {
    const slowUntil = parameter('slowUntil', 'bigint');
    const slow = sql`greatest(least(${to}, ${slowUntil}) - ${from}, 0)`;
    return sql`((${to} - ${from}) * ${targetTime} + ${slow} * ${parameter('slowerByMs', 'bigint')})::float8`;
  };
  /** Joins the nearest of the points before the index. */
  const known = (condition: RawBuilder<unknown>, order: RawBuilder<unknown>) => {
    const ofTable = (table: RawBuilder<unknown>) => sql`(
      select daa_score, timestamp from ${table}
      where below.daa_score is null and daa_score < above.daa_score and ${condition}
        order by ${order} limit 1)`;
    const ofNetwork = sql`unnest(
      ${parameter('knownScores', 'bigint[]')}, ${parameter('knownTimes', 'bigint[]')}) as known (daa_score, timestamp)`;
    return sql`
      left join lateral (
        select * from (${ofTable(sql`pre_bootstrap_times`)} union all ${ofTable(ofNetwork)}) points
          order by ${order} limit 1
      )`;
  };
  const [ascending, descending] = [sql`daa_score`, sql`daa_score desc`];
  const estimate = sql`
    case
      when at.timestamp is not null then at.timestamp
      when lower.daa_score is null then upper.timestamp
      when upper.daa_score is null
        then least(lower.timestamp + (requested.exact_score - lower.daa_score) * ${targetTime}, ${MAX_UINT64})
      when upper.timestamp <= lower.timestamp then lower.timestamp
      else lower.timestamp + trunc((upper.timestamp - lower.timestamp)::float8 * (
        ${nominalTime(sql`lower.daa_score`, sql`requested.score`)} / ${nominalTime(sql`lower.daa_score`, sql`upper.daa_score`)}))::bigint
    end`;
  return {
    tables: {
      requested: sql`
        select * from unnest(${parameter('scores', 'numeric[]')},
          ${parameter('storedScores', 'bigint[]')})
          with ordinality as requested (exact_score, score, position)`,
    },
    // During the first catch-up, scores above the sink are in the past, and must not be
    // extrapolated.
    problem: sql<string | null>`(
      select 'catching up' from checkpoint
        join chain_blocks sink on sink.index = checkpoint.chain_index
      where checkpoint.first_catch_up
        and exists (select from requested where score > sink.daa_score))`,
    body: jsonBuildObject({
      timestamps: sql<string[]>`(
        select coalesce(json_agg(timestamp), '[]') from (
          select (${estimate})::text as timestamp
          from requested
          ${chainBlock(sql`daa_score = requested.score`, sql`index`)} at on true
          ${chainBlock(sql`daa_score < requested.score`, sql`daa_score desc, index desc`)} below on true
          ${chainBlock(sql`daa_score > requested.score`, sql`daa_score, index`)} above on true
          ${known(sql`daa_score <= requested.score`, descending)} known_below on at.timestamp is null
          ${known(sql`daa_score > requested.score`, ascending)} known_above on at.timestamp is null
          cross join lateral (select
            coalesce(below.daa_score, known_below.daa_score) as daa_score,
            coalesce(below.timestamp, known_below.timestamp) as timestamp) lower
          cross join lateral (select
            coalesce(known_above.daa_score, above.daa_score) as daa_score,
            coalesce(known_above.timestamp, above.timestamp) as timestamp) upper
          order by requested.position
        ) listed)`,
    }),
  };
});

export const getDaaScoreTimestampEstimate = statementRoute(
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
  ({ body: { daaScores } }, { network }) => timesOfScores.with(parametersOf(daaScores, network)),
  { 'catching up': catchingUp },
);

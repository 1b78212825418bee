/** Hash rates and active addresses of the network, from its kept intervals. */
import { type Db } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { countedFrom } from '../resources/network/counted-from.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Resolutions of the hash rate, and the intervals that each is made of. */
const RESOLUTIONS = {
  '15m': { length: 15 * MINUTE_MS, interval: 'minute' },
  '1h': { length: HOUR_MS, interval: 'hour' },
  '3h': { length: 3 * HOUR_MS, interval: 'hour' },
  '1d': { length: 24 * HOUR_MS, interval: 'day' },
  '7d': { length: 7 * 24 * HOUR_MS, interval: 'day' },
} as const;

export type Resolution = keyof typeof RESOLUTIONS;

export const resolutions = Object.keys(RESOLUTIONS) as Resolution[];

/** How far a history reaches back, in samples: more than half a year of hours, or all days. */
const MAX_SAMPLES = 5000;

export interface HashRate {
  hashesPerSecond: number;
  /** Hash of the last chain block of the sample. */
  hash: string;
  blueScore: number;
  daaScore: number;
  /** Unix milliseconds. */
  timestamp: number;
}

/**
 * Selects the work per second of samples, with the last chain block of each.
 * @param samples has `start` and `work`
 */
const ratesOf = (samples: RawBuilder<unknown>, length: number) => sql<HashRate>`
  with samples as materialized (${samples}), ends as (
    select (select chain_time from chain_blocks
      where index = (select chain_index from checkpoint)) as sink,
      ${countedFrom} as first
  )
  select (work * 1000 / greatest(least(start + ${sql.lit(length)}, ends.sink) - greatest(start,
    ends.first), 1000))::float8
      as "hashesPerSecond",
    encode(last.hash, 'hex') as hash, last.blue_score::float8 as "blueScore",
    last.daa_score::float8 as "daaScore", last.timestamp::float8 as timestamp
  from samples cross join ends cross join lateral (
    select hash, blue_score, daa_score, timestamp from chain_blocks
    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + ${sql.lit(length)}) / 1000::double precision)
    order by to_timestamp(chain_time / 1000::double precision) desc, index desc limit 1
  ) last
  order by start desc`;

/**
 * Lists hash rates newest first, as far back as MAX_SAMPLES allow.
 * @param from Unix milliseconds
 */
export async function listHashRates(
  db: Db,
  { resolution, from = 0, to = Number.MAX_SAFE_INTEGER }: { resolution: Resolution; from?: number; to?: number },
): Promise<HashRate[]> {
  const { length, interval } = RESOLUTIONS[resolution];
  const newest = sql`(
    select start / ${sql.lit(length)} * ${sql.lit(length)} from network_intervals
    where length = ${sql.lit(interval)} and start < ${to} order by start desc limit 1)`;
  const samples = sql`
    select start / ${sql.lit(length)} * ${sql.lit(length)} as start, sum(work) as work
      from network_intervals
    where length = ${sql.lit(interval)} and start < ${to}
      and start >= greatest(${from}::bigint, ${newest} - ${sql.lit((MAX_SAMPLES - 1) * length)})
    group by 1`;
  return (await ratesOf(samples, length).execute(db)).rows;
}

/**
 * Returns that of the hour with the most work whose chain blocks are kept, or undefined if there is
 * none.
 */
export async function findHighestHashRate(db: Db): Promise<HashRate | undefined> {
  const samples = sql`
    select start, work from network_intervals
    where length = 'hour' and start + ${sql.lit(HOUR_MS)} > (select chain_time from chain_blocks
      order by index limit 1)
    order by work desc, start desc limit 1`;
  return (await ratesOf(samples, HOUR_MS).execute(db)).rows[0];
}

interface ActiveCount {
  timestamp: number;
  dateTime: string;
  count: number;
}

/** Lists how many addresses were active in each hour of a range. @param from Unix milliseconds */
export async function countActive(db: Db, from: number, to: number): Promise<ActiveCount[]> {
  const { rows } = await sql<{ start: number; count: number }>`
    select start::float8 as start, active_scripts::float8 as count from network_intervals
    where length = 'hour' and start >= ${from} and start < ${to} order by start`.execute(db);
  return rows.map(({ start, count }) => ({ timestamp: start, dateTime: new Date(start).toISOString(), count }));
}

/** Counts the addresses that were ever active. */
export async function countScripts(db: Db): Promise<{ count: number; time: number }> {
  const { rows } = await sql<{ count: number; time: number }>`
    select coalesce(sum(new_scripts), 0)::float8 as count,
      (select timestamp from chain_blocks
        where index = (select chain_index from checkpoint))::float8 as time
    from network_intervals where length = 'day'`.execute(db);
  return rows[0] ?? { count: 0, time: 0 };
}

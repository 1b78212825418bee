/**
 * GET /v1/addresses/{address}/balance-history: the balance at the end of each hour, day or month.
 */
import {
  addressInput,
  type AddressParameters,
  joinedGaps,
  jsonArray,
  jsonObject,
  optional,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  scriptIdOf,
  sompi,
  statementsBy,
  timestamp,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { requireTimeRange, timeRange } from '../../pages/time-range.ts';
import { lookUp } from '../shared.ts';

/** Hours of more than a year, and days of 27 years. */
const MAX_INTERVALS = 10_000;

const interval = z.enum(['hour', 'day', 'month']);

type Interval = z.infer<typeof interval>;

const balanceHistory = z.object({
  history: z
    .array(
      z.object({
        timestamp: timestamp.meta({
          description: 'End of the interval, which is the start of the next one: Unix time in milliseconds',
        }),
        balance: sompi,
      }),
    )
    .meta({
      description: `One entry for each interval from the first change of the balance to the sink, oldest first; the newest ${MAX_INTERVALS} of those between \`from\` and \`to\` if there are more. A change counts at the latest time of the chain up to the accepting block, since times of blocks may decrease. If the index does not begin at genesis, the balance at its first block is the first change. Intervals that end in a gap of the index are omitted.`,
    }),
  gaps: z
    .array(
      z.object({
        from: timestamp.meta({ description: 'Time of the last block before the gap' }),
        to: timestamp.meta({ description: 'Time of the first block after the gap' }),
      }),
    )
    .optional()
    .meta({
      description:
        'Gaps of the index since the first interval; absent if there are none. All changes in a gap appear as one change in the interval in which the gap ends',
    }),
});

type BalanceHistory = z.infer<typeof balanceHistory>;

/** Intervals of a length are numbered from 1970 (UTC) on. */
interface Numbering {
  /** @param hour an integer, since 1970 */
  numberOf: (hour: RawBuilder<unknown>) => RawBuilder<unknown>;
  firstHour: (number: RawBuilder<unknown>) => RawBuilder<unknown>;
}

const HOURS_PER_DAY = sql.lit(24);
const sinceEpoch = (months: RawBuilder<unknown>) => sql`(timestamp '1970-01-01' + make_interval(months => ${months}))`;
const timeOf = (hour: RawBuilder<unknown>) => sql`(timestamp '1970-01-01' + make_interval(hours => ${hour}))`;

const numberings: Readonly<Record<Interval, Numbering>> = {
  hour: { numberOf: (hour) => hour, firstHour: (number) => number },
  day: {
    numberOf: (hour) => sql`(${hour} / ${HOURS_PER_DAY})`,
    firstHour: (number) => sql`(${number} * ${HOURS_PER_DAY})`,
  },
  month: {
    numberOf: (hour) =>
      sql`((extract(year from ${timeOf(hour)}) - 1970) * 12 + extract(month from ${timeOf(hour)}) - 1)::int`,
    firstHour: (number) => sql`(extract(epoch from ${sinceEpoch(number)}) / 3600)::int`,
  },
};

const HOUR_MS = sql.lit(3_600_000);
/** Without `to`, and for any later one: least() ignores null. */
const MAX_HOUR = sql.lit(2 ** 31 - 1);

/**
 * Balances are computed backwards from the balance now, without any change before the first
 * interval.
 */
export const historyOfBalance = statementsBy(
  'balance history',
  (
    parameter: ParameterOf<AddressParameters & Partial<Record<'from' | 'to', number | undefined>>>,
    { interval }: { interval: Interval },
  ) => {
    const { numberOf, firstHour } = numberings[interval];
    const startOf = (number: RawBuilder<unknown>) => sql<number>`(${firstHour(number)}::bigint * ${HOUR_MS})`;
    const ofScript = sql`script_id = (select id from script) and change <> 0`;
    const end = startOf(sql`(number + 1)`);
    // The last one that may be the end of a listed interval.
    const hourBeforeEnd = sql`least((${parameter('to', 'bigint')} - 1) / ${HOUR_MS}, ${MAX_HOUR})::int`;
    return {
      tables: {
        script: sql`select ${scriptIdOf(parameter)} as id`,
        range: sql`
          select balance, last, last_listed,
            greatest(first, last_listed - ${sql.lit(MAX_INTERVALS - 1)}) as first
          from (
            select balance, first, last, least(last, ${numberOf(hourBeforeEnd)} - 1) as last_listed
            from (
              select balances.balance, ${numberOf(sql`(sink.chain_time / ${HOUR_MS})::int`)} as last,
                (select ${numberOf(sql`hour`)} from balance_changes where ${ofScript} order by hour
                  limit 1) as first
              from balances
              cross join (select chain_time from chain_blocks
                where index = (select chain_index from checkpoint)) sink
              where script_id = (select id from script)
            ) whole
            where first is not null
          ) listed`,
        gap: sql`
          select lower.timestamp as "from", upper.timestamp as "to", lower.chain_time as after,
            upper.chain_time as before
          from ${joinedGaps} join range on upper.chain_time > ${startOf(sql`range.first`)}
          order by upper.index`,
        // The balance changes only at some intervals, and is the same at the ends of those up to
        // the next one.
        step: sql`
          select greatest(changes.number, range.first) as first,
            lag(changes.number, 1, range.last + 1) over newest_first - 1 as last,
            (balance - coalesce(sum(change) over newest_first, 0))::text as balance
          from range cross join (
            select ${numberOf(sql`hour`)} as number,
              ${interval === 'hour' ? sql`change` : sql`sum(change) as change`}
            from balance_changes
            where ${ofScript} and hour >= (
              select coalesce(
                (select hour from balance_changes where ${ofScript} and hour < first_hour
                  order by hour desc limit 1), first_hour)
              from (select ${firstHour(sql`first`)} as first_hour from range) beginning)
            ${interval === 'hour' ? sql`` : sql`group by 1`}
          ) changes
          window newest_first as (
            order by number desc rows between unbounded preceding and 1 preceding)`,
        history: sql`
          select coalesce(json_agg(listed), '[]') as list from (
            select ${end} as timestamp, balance
            from (
              select generate_series(step.first, least(step.last, range.last_listed)) as number,
                step.balance from step cross join range
            ) numbered
            where not exists (select from gap where after < ${end} and ${end} <= before)
              and ${end} >= coalesce(${parameter('from', 'bigint')}, 0)
              and ${end} < coalesce(${parameter('to', 'bigint')}, 9223372036854775807)
            order by number
          ) listed`,
      },
      body: jsonObject<BalanceHistory>({
        history: sql`(select list from history)`,
        gaps: optional(
          sql`exists (select from gap)`,
          jsonArray(jsonObject({ from: sql`"from"`, to: sql`"to"` }), sql`from gap`),
        ),
      }),
    };
  },
);

export const getAddressBalanceHistory = statementRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address/balance-history', 'getAddressBalanceHistory'),
    summary: 'Balance of an address at the end of each hour, day or month',
    description: '`from` and `to` select intervals by their `timestamp`.',
    params: z.strictObject({ address: addressInput }),
    query: z.strictObject({ interval: interval.default('day').meta({ description: 'In UTC' }), ...timeRange }),
    response: balanceHistory,
  },
  ({ params: { address }, query }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    requireTimeRange(query);
    const { interval: length, from, to } = query;
    return historyOfBalance({ interval: length }).with({ address, from, to });
  },
);

/** GET /v1/addresses/{address}/balance-history: the balance at the end of each hour, day or month. */
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Reading } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest } from '../../schemas/address.ts';
import { addressInput, sompi, timestamp } from '../../schemas/values.ts';
import { lookUp } from '../shared.ts';
import { listGaps } from '../chain/segments.ts';

/** Hours of more than a year, and days of 27 years. */
const MAX_INTERVALS = 10_000;

const interval = z.enum(['hour', 'day', 'month']);

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
      description: `One entry for each interval from the first change of the balance to the sink, oldest first; the newest ${MAX_INTERVALS} if there are more. A change counts at the latest time of the chain up to the accepting block, since times of blocks may decrease. If the index does not begin at genesis, the balance at its first block is the first change. Intervals that end in a gap of the index are omitted.`,
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

const toSeconds = (time: RawBuilder<unknown>) => sql`extract(epoch from (${time}) at time zone 'UTC')`;

/** Lists the balances at the ends of intervals. They are computed backwards from the balance now, without any change before the first interval. */
async function listBalances({ db, state }: Reading, scriptId: bigint, unit: z.infer<typeof interval>) {
  const step = sql`${`1 ${unit}`}::interval`;
  const startOf = (seconds: RawBuilder<unknown>) =>
    sql`date_trunc(${unit}, to_timestamp(${seconds}) at time zone 'UTC')`;
  const { rows } = await sql<{ start: number; end: number; balance: string }>`
    with latest as (
      select balances.balance, ${startOf(sql`chain_time / 1000`)} as start
      from balances join chain_blocks on chain_blocks.index = ${state.sinkChainIndex}
      where balances.script_id = ${scriptId}
    ), range as (
      select balance, latest.start as last,
        greatest(${startOf(sql`hour * 3600.0`)}, latest.start - ${MAX_INTERVALS - 1} * ${step}) as first
      from latest cross join (
        select hour from balance_changes where script_id = ${scriptId} and change <> 0 order by hour limit 1
      ) earliest
    ), changes as (
      select ${startOf(sql`hour * 3600.0`)} as start, sum(change) as change
      from balance_changes
      where script_id = ${scriptId} and change <> 0 and hour >= (select ${toSeconds(sql`first`)} / 3600 from range)::integer
      group by 1
    )
    select (${toSeconds(sql`start`)} * 1000)::float8 as start, (${toSeconds(sql`start + ${step}`)} * 1000)::float8 as end,
      (balance - coalesce(sum(change) over (order by start desc rows between unbounded preceding and 1 preceding), 0))::text
        as balance
    from range cross join generate_series(first, last, ${step}) as period (start) left join changes using (start)
    order by 1`.execute(db);
  return rows;
}

export const getAddressBalanceHistory = indexRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address/balance-history', 'getAddressBalanceHistory'),
    summary: 'Balance of an address at the end of each hour, day or month',
    params: z.strictObject({ address: addressInput }),
    query: z.strictObject({ interval: interval.default('day').meta({ description: 'In UTC' }) }),
    response: balanceHistory,
  },
  async (reading, { params: { address }, query: { interval } }) => {
    const scriptId = await findScriptOfRequest(reading, address);
    const rows = scriptId === undefined ? [] : await listBalances(reading, scriptId, interval);
    const [first] = rows;
    if (first === undefined) return { history: [] };
    const gaps = (await listGaps(reading)).filter(({ before }) => before.chainTime > first.start);
    const isInGap = (time: number) =>
      gaps.some(({ after, before }) => after.chainTime < time && time <= before.chainTime);
    return {
      history: rows.filter(({ end }) => !isInGap(end)).map(({ end, balance }) => ({ timestamp: end, balance })),
      ...(gaps.length > 0 && {
        gaps: gaps.map(({ after, before }) => ({ from: Number(after.timestamp), to: Number(before.timestamp) })),
      }),
    };
  },
);

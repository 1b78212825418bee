/** GET /v1/network/history: what happened on the network by minute, hour or day. */
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { jsonArray, jsonObject } from '../../index-state/json.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { type ParameterOf, statementsBy } from '../../index-state/statement.ts';
import { requireTimeRange, timeRange } from '../../pages/time-range.ts';
import { statementRoute } from '../../route.ts';
import { count, decimal, sompi, timestamp } from '../../schemas/values.ts';
import { lookUp } from '../shared.ts';
import { countedFrom } from './counted-from.ts';

const MAX_INTERVALS = 1000;
const DEFAULT_INTERVALS = 100;

const MILLISECONDS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const interval = z.enum(['minute', 'hour', 'day']);

type Interval = z.infer<typeof interval>;

const networkInterval = z
  .object({
    start: timestamp,
    isOpen: z.boolean().meta({ description: 'Whether the sink is in it, so that it is not over' }),
    blocks: count.meta({ description: 'Merged by its chain blocks' }),
    chainBlocks: count,
    redBlocks: count,
    transactions: count.meta({ description: 'Accepted, without coinbases' }),
    fees: sompi,
    volume: sompi.meta({ description: 'Outputs of these transactions, with change' }),
    minted: sompi,
    supply: sompi.meta({ description: 'Circulating supply at its end' }),
    activeAddresses: count,
    newAddresses: count,
    hashesPerSecond: decimal.meta({
      description: 'Work of its blocks by its length; of the open one by the time until the sink',
    }),
  })
  .meta({ id: 'NetworkInterval' });

interface Parameters {
  from?: number | undefined;
  to?: number | undefined;
  limit: number;
}

/** Without `from`, the latest intervals before `to`. */
const intervals = statementsBy(
  'network history',
  (parameter: ParameterOf<Parameters>, { interval, isFrom }: { interval: Interval; isFrom: boolean }) => {
    const length = sql.lit(MILLISECONDS[interval]);
    const limit = parameter('limit', 'bigint');
    return {
      tables: {
        ends: sql`select
          (select chain_time from chain_blocks where index = (select chain_index from checkpoint)) as sink,
          ${countedFrom} as first`,
        found: sql`
          select * from network_intervals
          where length = ${sql.lit(interval)} and start < coalesce(${parameter('to', 'bigint')}, 9223372036854775807)
            ${isFrom ? sql`and start >= ${parameter('from', 'bigint')}` : sql``}
          order by start ${isFrom ? sql`asc` : sql`desc`} limit ${limit} + 1`,
        listed: sql`select * from found order by start ${isFrom ? sql`asc` : sql`desc`} limit ${limit}`,
      },
      body: jsonBuildObject({
        history: jsonArray(
          jsonObject<z.infer<typeof networkInterval>>({
            start: sql`listed.start`,
            isOpen: sql`listed.start + ${length} > ends.sink`,
            blocks: sql`listed.blocks`,
            chainBlocks: sql`listed.chain_blocks`,
            redBlocks: sql`listed.red_blocks`,
            transactions: sql`listed.transactions`,
            fees: sql`listed.fees::text`,
            volume: sql`listed.volume::text`,
            minted: sql`listed.minted::text`,
            supply: sql`listed.supply::text`,
            activeAddresses: sql`listed.active_scripts`,
            newAddresses: sql`listed.new_scripts`,
            hashesPerSecond: sql`trunc(listed.work * 1000 / greatest(
              least(listed.start + ${length}, ends.sink) - greatest(listed.start, ends.first), 1000))::text`,
          }),
          sql`from listed cross join ends order by listed.start`,
        ),
        hasMore: sql<boolean>`(select count(*) > ${limit} from found)`,
      }),
    };
  },
);

export const getNetworkHistory = statementRoute(
  {
    ...lookUp('Network', '/v1/network/history', 'getNetworkHistory'),
    cost: 0.5,
    summary: 'Blocks, transactions, fees, supply and hash rate by minute, hour or day',
    description: `At most ${MAX_INTERVALS} intervals from \`from\` on; without it the latest ${DEFAULT_INTERVALS}. Intervals without a chain block are left out.`,
    query: z.strictObject({ interval: interval.default('hour').meta({ description: 'In UTC' }), ...timeRange }),
    response: z.object({
      history: z.array(networkInterval).meta({ description: 'Oldest first' }),
      hasMore: z
        .boolean()
        .meta({ description: 'Whether there are more intervals: later ones with `from`, earlier ones without it' }),
    }),
  },
  ({ query: { interval, from, to } }, settled) => {
    requireTimeRange({ from, to });
    requireCaughtUp(settled);
    const isFrom = from !== undefined;
    return intervals({ interval, isFrom }).with({ from, to, limit: isFrom ? MAX_INTERVALS : DEFAULT_INTERVALS });
  },
);

/** GET /v1/network/history: what happened on the network by minute, hour or day. */
import {
  count,
  decimal,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  sompi,
  statementsBy,
  timestamp,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { timeRange } from '../../pages/time-range.ts';
import { lookUp } from '../shared.ts';
import { countedFrom } from './counted-from.ts';
import {
  historyOf,
  type IntervalParameters,
  intervalParts,
  intervalsDescription,
  intervalsOf,
  type IntervalVariant,
} from './intervals.ts';

const interval = z.enum(['minute', 'hour', 'day']);

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

const intervals = statementsBy(
  'network history',
  (parameter: ParameterOf<IntervalParameters>, variant: IntervalVariant) => {
    const { tables, length, hasMore } = intervalParts(parameter, variant);
    return {
      tables: {
        ends: sql`select
          (select chain_time from chain_blocks
            where index = (select chain_index from checkpoint)) as sink,
          ${countedFrom} as first`,
        ...tables,
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
              least(listed.start + ${length}, ends.sink) - greatest(listed.start,
                ends.first), 1000))::text`,
          }),
          sql`from listed cross join ends order by listed.start`,
        ),
        hasMore,
      }),
    };
  },
);

export const getNetworkHistory = statementRoute(
  {
    ...lookUp('Network', '/v1/network/history', 'getNetworkHistory'),
    cost: 0.5,
    summary: 'Blocks, transactions, fees, supply and hash rate by minute, hour or day',
    description: intervalsDescription,
    query: z.strictObject({ interval: interval.default('hour').meta({ description: 'In UTC' }), ...timeRange }),
    response: historyOf(networkInterval),
  },
  ({ query }, settled) => {
    const { variant, parameters } = intervalsOf(query);
    requireCaughtUp(settled);
    return intervals(variant).with(parameters);
  },
);

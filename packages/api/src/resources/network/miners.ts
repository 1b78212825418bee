/** GET /v1/miners: who mined the blocks of the last hour, day or week. */
import {
  address,
  addressTag,
  type AddressTagJson,
  count,
  hexBytes,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  sompi,
  Statement,
  timestamp,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { tagOfScript } from '../addresses/tags.ts';
import { lookUp } from '../shared.ts';

const MAX_MINERS = 100;
/**
 * Pools are looked for in this number of the newest blocks. A miner who mined none of them has
 * none.
 */
const NEWEST_BLOCKS = 1000;

const HOURS = { hour: 1, day: 24, week: 168 } as const;

const miner = z.object({
  address: address.nullable().meta({ description: 'Null for a non-standard script' }),
  scriptPublicKey: hexBytes,
  tag: addressTag.nullable().meta({ description: 'Tag of the address, else of its cluster' }),
  pool: z
    .string()
    .nullable()
    .meta({
      description: `Domain of a mining pool that the miner's last block names, of the newest ${NEWEST_BLOCKS}: a claim; null if it names none`,
    }),
  blocks: count,
  redBlocks: count,
  share: z.number().meta({ description: 'Of all these blocks: 0 to 1' }),
  rewards: sompi.meta({ description: 'What coinbases of the merging blocks pay to it: subsidies and fees' }),
});

const miners = z.object({
  from: timestamp.meta({ description: 'Beginning of the hour in which the interval begins' }),
  to: timestamp.meta({ description: 'Time of the sink' }),
  blocks: count.meta({ description: 'Merged blocks' }),
  miners: z.array(miner).meta({ description: `Most blocks first; at most ${MAX_MINERS}` }),
});

const shares = new Statement('miners', (parameter: ParameterOf<{ hours: number }>) => ({
  tables: {
    range: sql`
      select (chain_time / 3600000)::integer - ${parameter('hours', 'integer')} as first_hour, chain_time
      from chain_blocks where index = (select chain_index from checkpoint)`,
    mined: sql`
      select script_id, sum(blocks)::bigint as blocks, sum(red_blocks)::bigint as red_blocks,
        sum(rewards) as rewards
      from miner_hours where hour >= (select first_hour from range) group by script_id`,
    total: sql`select coalesce(sum(blocks), 0)::bigint as blocks from mined`,
    latest: sql`
      select miner_script_id as script_id, max(id) as block_id
      from (select id, miner_script_id from blocks order by id desc
        limit ${sql.lit(NEWEST_BLOCKS)}) newest group by miner_script_id`,
    listed: sql`
      select * from mined where blocks > 0 or rewards > 0
        order by blocks desc, rewards desc, script_id limit ${sql.lit(MAX_MINERS)}`,
  },
  body: jsonObject<z.infer<typeof miners>>({
    from: sql`(select first_hour::bigint * 3600000 from range)`,
    to: sql`(select chain_time from range)`,
    blocks: sql`(select blocks from total)`,
    miners: jsonArray(
      jsonObject<z.infer<typeof miner>>({
        address: sql`script.address`,
        scriptPublicKey: sql`encode(script.script, 'hex')`,
        tag: sql<AddressTagJson | null>`${tagOfScript(sql`script.address`, sql`script.id`)}`,
        pool: sql`(
          select pool_of(extra_data_of(coinbase.payload))
          from latest
          join block_transactions contained on contained.block_id = latest.block_id
            and contained.index = 0
          join transactions coinbase on coinbase.id = contained.transaction_id
          where latest.script_id = listed.script_id)`,
        blocks: sql`listed.blocks`,
        redBlocks: sql`listed.red_blocks`,
        share: sql`round(listed.blocks / greatest(total.blocks, 1)::numeric, 6)::float8`,
        rewards: sql`listed.rewards::text`,
      }),
      sql`from listed cross join total join scripts script on script.id = listed.script_id
          order by listed.blocks desc, listed.rewards desc, listed.script_id`,
    ),
  }),
}));

export const getMiners = statementRoute(
  {
    ...lookUp('Network', '/v1/miners', 'getMiners'),
    cost: 0.5,
    summary: 'Miners by their merged blocks in the last hour, day or week',
    tagOf: 'content',
    query: z.strictObject({ interval: z.enum(['hour', 'day', 'week']).default('day') }),
    response: miners,
  },
  ({ query: { interval } }, settled) => {
    requireCaughtUp(settled);
    return shares.with({ hours: HOURS[interval] });
  },
);

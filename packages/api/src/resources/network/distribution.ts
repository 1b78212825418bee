/** GET /v1/network/distribution: how many addresses hold how much. */
import { count, jsonArray, jsonObject, requireCaughtUp, sompi, Statement, timestamp } from '@kasgres/reads';
import { sql } from 'kysely';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';

const tier = z.object({
  from: sompi.meta({ description: 'Smallest balance' }),
  to: sompi.nullable().meta({ description: 'Balances are smaller than this; null without a limit' }),
  addresses: count,
  balance: sompi.meta({ description: 'Sum of the balances' }),
});

const distribution = z.object({
  timestamp: timestamp.meta({ description: 'Time of the sink' }),
  tiers: z.array(tier).meta({ description: 'By powers of ten KAS, smallest balances first' }),
});

/** The last one is beyond the maximum supply of 29 billion KAS. */
const LAST_TIER = 11;

const tiers = new Statement('distribution', () => ({
  body: jsonObject<z.infer<typeof distribution>>({
    timestamp: sql`(select blocks.timestamp from checkpoint join blocks on blocks.id = checkpoint.block_id)`,
    tiers: jsonArray(
      jsonObject<z.infer<typeof tier>>({
        from: sql`case when tiers.tier = 0 then '1' else (10::numeric ^ (tiers.tier + 7))::bigint::text end`,
        to: sql`case when tiers.tier < ${sql.lit(LAST_TIER)} then (10::numeric ^ (tiers.tier + 8))::bigint::text end`,
        addresses: sql`coalesce(kept.addresses, 0)`,
        balance: sql`coalesce(kept.balance, 0)::text`,
      }),
      sql`from generate_series(0, ${sql.lit(LAST_TIER)}) as tiers (tier)
        left join balance_tiers kept on kept.tier = tiers.tier order by tiers.tier`,
    ),
  }),
}));

export const getDistribution = statementRoute(
  {
    ...lookUp('Network', '/v1/network/distribution', 'getDistribution'),
    summary: 'Addresses and balances by the size of the balance',
    response: distribution,
  },
  (_input, settled) => {
    requireCaughtUp(settled);
    return tiers.with({});
  },
);

/** GET /v1/network/protocols: what the chain is used for, by hour or day. */
import { USES } from '@kasgres/programs';
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
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { timeRange } from '../../pages/time-range.ts';
import { lookUp } from '../shared.ts';
import {
  historyOf,
  INTERVAL_MS,
  type IntervalParameters,
  intervalParts,
  intervalsDescription,
  intervalsOf,
  type IntervalVariant,
} from './intervals.ts';

const interval = z.enum(['hour', 'day']);

const protocol = z.object({
  protocol: z.string().meta({ description: 'As in listInscriptions' }),
  transactions: count.meta({ description: 'Accepted ones with an operation of it' }),
  fees: sompi.meta({ description: 'Of these transactions, which may be of several protocols' }),
});
const covenantEvents = z.object({ genesis: count, transition: count, burn: count });
const lanes = z.object({
  transactions: count.meta({ description: 'Accepted ones in user lanes' }),
  gas: decimal,
  fees: sompi,
});
const opcodes = z.object({
  family: z.enum(Object.keys(USES) as [keyof typeof USES]),
  spends: count.meta({ description: 'Inputs that revealed a program with these opcodes, or spent such a script' }),
  fees: sompi.meta({ description: 'Of their transactions' }),
});

const protocolInterval = z
  .object({
    start: timestamp,
    isOpen: z.boolean().meta({ description: 'Whether the sink is in it, so that it is not over' }),
    transactions: count.meta({ description: 'All accepted ones, without coinbases' }),
    fees: sompi,
    protocols: z.array(protocol).meta({ description: 'By name; without those of which there is none' }),
    covenantEvents,
    lanes,
    opcodes: z.array(opcodes).meta({ description: 'Families of opcodes; without those of which there is none' }),
  })
  .meta({ id: 'ProtocolInterval' });

const eventsOf = (kind: string): RawBuilder<number> =>
  sql`coalesce(sum(events) filter (where kind = ${sql.lit(kind)}), 0)::bigint`;

const nameOfUse = sql<keyof typeof USES>`case use ${sql.join(
  Object.entries(USES).map(([name, bit]) => sql`when ${sql.lit(bit)} then ${sql.lit(name)}`),
  sql` `,
)} end`;

const intervals = statementsBy('protocols', (parameter: ParameterOf<IntervalParameters>, variant: IntervalVariant) => {
  const { tables, length, hasMore } = intervalParts(parameter, variant);
  const inInterval = sql`hour between listed.start / ${sql.lit(INTERVAL_MS.hour)}
    and (listed.start + ${length}) / ${sql.lit(INTERVAL_MS.hour)} - 1`;
  return {
    tables,
    body: jsonBuildObject({
      history: jsonArray(
        jsonObject<z.infer<typeof protocolInterval>>({
          start: sql`listed.start`,
          isOpen: sql`listed.start + ${length} > (
              select chain_time from chain_blocks
                where index = (select chain_index from checkpoint))`,
          transactions: sql`listed.transactions`,
          fees: sql`listed.fees::text`,
          protocols: jsonArray(
            jsonObject<z.infer<typeof protocol>>({
              protocol: sql`summed.protocol`,
              transactions: sql`summed.transactions`,
              fees: sql`summed.fees::text`,
            }),
            sql`from (
                select protocol, sum(transactions)::bigint as transactions, sum(fees) as fees
                from protocol_hours where ${inInterval} group by protocol) summed
                  order by summed.protocol`,
          ),
          covenantEvents: sql`(
              select ${jsonObject<z.infer<typeof covenantEvents>>({
                genesis: sql`genesis`,
                transition: sql`transition`,
                burn: sql`burn`,
              })}
              from (
                select ${eventsOf('genesis')} as genesis, ${eventsOf('transition')} as transition,
                  ${eventsOf('burn')} as burn
                from covenant_hours where ${inInterval}) summed)`,
          lanes: sql`(
              select ${jsonObject<z.infer<typeof lanes>>({
                transactions: sql`coalesce(transactions, 0)`,
                gas: sql`coalesce(gas, 0)::text`,
                fees: sql`coalesce(fees, 0)::text`,
              })}
              from (
                select sum(transactions)::bigint as transactions, sum(gas) as gas, sum(fees) as fees
                from lane_totals where ${inInterval}) summed)`,
          opcodes: jsonArray(
            jsonObject<z.infer<typeof opcodes>>({
              family: nameOfUse,
              spends: sql`summed.spends`,
              fees: sql`summed.fees::text`,
            }),
            sql`from (
                select use, sum(spends)::bigint as spends, sum(fees) as fees
                from program_use_hours where ${inInterval} group by use) summed
                  order by summed.use`,
          ),
        }),
        sql`from listed order by listed.start`,
      ),
      hasMore,
    }),
  };
});

export const getNetworkProtocols = statementRoute(
  {
    ...lookUp('Network', '/v1/network/protocols', 'getNetworkProtocols'),
    cost: 0.5,
    summary: 'Transactions and fees by protocol, covenant events, user lanes and families of opcodes by hour or day',
    description: `${intervalsDescription} Which protocol an operation is of is what somebody wrote; whether it has an effect is not known.`,
    // Later decoders decode what is indexed again.
    tagOf: 'content',
    query: z.strictObject({ interval: interval.default('hour').meta({ description: 'In UTC' }), ...timeRange }),
    response: historyOf(protocolInterval),
  },
  ({ query }, settled) => {
    const { variant, parameters } = intervalsOf(query);
    requireCaughtUp(settled);
    return intervals(variant).with(parameters);
  },
);

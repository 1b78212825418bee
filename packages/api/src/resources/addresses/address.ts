/** GET /v1/addresses/{address}, and its tag alone. */
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { jsonObject } from '../../index-state/json.ts';
import { catchingUp, requireCaughtUp } from '../../index-state/state.ts';
import { type ParameterOf, Statement } from '../../index-state/statement.ts';
import { statementRoute } from '../../route.ts';
import {
  type AddressParameters,
  addressTag,
  type AddressTagJson,
  automaticLabels,
  requireNetwork,
  scriptIdOf,
} from '../../schemas/address.ts';
import { address, addressInput, count, sompi, timestamp } from '../../schemas/values.ts';
import { lookUp } from '../shared.ts';
import { containing, joinAccepting } from '../transactions/rest/select-transactions.ts';

const addressDetails = z
  .object({
    address,
    balance: sompi,
    utxoCount: count,
    transactionCount: count.meta({ description: 'Transactions that spend from it or pay to it, accepted or not' }),
    firstSeen: timestamp
      .nullable()
      .meta({ description: '`blockTime` of the first of these transactions; null if there are none' }),
    lastSeen: timestamp.nullable().meta({ description: '`blockTime` of the last of these transactions' }),
    tag: addressTag.nullable().meta({ description: 'Tag of the address, else of its cluster' }),
    automaticLabels,
  })
  .meta({ id: 'AddressDetails' });

const ownTag = (parameter: ParameterOf<AddressParameters>): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (
    select address, name, link, labels from tags where address = ${parameter('address', 'text')}
  ) tag)`;

/** A cluster without a known owner has none. */
const clusterTag = (
  parameter: ParameterOf<AddressParameters>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (
    select ${parameter('address', 'text')} as address, name, link, labels from clusters
    where id = cluster_of(${scriptId}) and name is not null
  ) tag)`;

/** Selects the time of the first or last transaction; null if only the bootstrap UTXO set has the script. */
const timeOf = (end: 'min' | 'max'): RawBuilder<number | null> => sql`(
  select containing."blockTime"
  from transactions ${joinAccepting} cross join lateral (${containing}) containing
  where transactions.id = (
    select ${sql.raw(end)}(transaction_id) from script_deltas where script_id = (select id from script)))`;

const detailsOfAddress = new Statement('address', (parameter: ParameterOf<AddressParameters>) => {
  const scriptId = sql`(select id from script)`;
  return {
    tables: {
      script: sql`select ${scriptIdOf(parameter)} as id`,
      balance: sql`select * from balances where script_id = ${scriptId}`,
    },
    body: jsonBuildObject({
      address: jsonObject<z.infer<typeof addressDetails>>({
        address: parameter('address', 'text'),
        balance: sql`coalesce((select balance from balance), 0)::text`,
        utxoCount: sql`coalesce((select utxo_count from balance), 0)`,
        transactionCount: sql`coalesce((select transaction_count from balance), 0)`,
        firstSeen: timeOf('min'),
        lastSeen: timeOf('max'),
        tag: sql`coalesce(${ownTag(parameter)}, ${clusterTag(parameter, scriptId)})`,
        automaticLabels: sql`coalesce((select automatic_labels(script_id) from balance), '{}')`,
      }),
    }),
  };
});

export const getAddress = statementRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address', 'getAddress'),
    summary: 'Balance, activity, tag and labels of an address',
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ address: addressDetails }),
  },
  ({ params: { address } }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    return detailsOfAddress.with({ address });
  },
);

/** Clusters are unknown during the first catch-up. */
const tagOfAddress = new Statement('tag of an address', (parameter: ParameterOf<AddressParameters>) => {
  const tag = sql<AddressTagJson>`(select tag from found)`;
  return {
    tables: {
      found: sql`select coalesce(${ownTag(parameter)}, ${clusterTag(parameter, scriptIdOf(parameter))}) as tag`,
    },
    problem: sql<string | null>`case when ${tag} is null then
      case when (select first_catch_up from checkpoint) then 'catching up' else 'no tag' end end`,
    body: jsonBuildObject({ tag }),
  };
});

export const getAddressTag = statementRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address/tag', 'getAddressTag'),
    summary: 'Tag of an address, else of its cluster',
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ tag: addressTag }),
    errors: [404],
  },
  ({ params: { address } }, settled) => {
    requireNetwork(settled.network, address, 'address');
    return tagOfAddress.with({ address });
  },
  {
    'no tag': () => notFound('This address has no tag'),
    'catching up': catchingUp,
  },
);

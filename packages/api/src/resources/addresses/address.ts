/** GET /v1/addresses/{address}, and its tag alone. */
import {
  address,
  addressesInput,
  addressInput,
  type AddressParameters,
  addressTag,
  type AddressTagJson,
  automaticLabels,
  catchingUp,
  count,
  jsonArray,
  type JsonFields,
  jsonObject,
  notFound,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  requireNetworkOfAll,
  scriptIdOf,
  sompi,
  Statement,
  statementsBy,
  timestamp,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';
import { type AddressesParameters, requestedAddresses } from './balances.ts';
import { automaticLabelsOf, specifiedTagOf, tagOfScript } from './tags.ts';
import { transactionCountOf, unmergedCounts } from './transaction-count.ts';
import { includeTags, tagsByAddress, tagsOfScripts } from '../transactions/rest/tags.ts';
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

/**
 * Selects the time of the first or last transaction; null if only the bootstrap UTXO set has the
 * script.
 */
const timeOf = (end: 'min' | 'max', scriptId: RawBuilder<unknown>): RawBuilder<number | null> => sql`(
  select containing."blockTime"
  from transactions ${joinAccepting} cross join lateral (${containing}) containing
  where transactions.id = (select ${sql.raw(end)}(transaction_id) from script_deltas
    where script_id = ${scriptId}))`;

type AddressDetails = z.infer<typeof addressDetails>;

interface Selections {
  address: RawBuilder<string>;
  scriptId: RawBuilder<unknown>;
  /** Selects a column of the balance of the script; null without a balance. */
  balance: (column: string) => RawBuilder<unknown>;
  transactionCount: RawBuilder<number>;
  /**
   * The time of the first transaction. This and `transactionCount` are used twice, so they must be
   * columns: a subquery would run twice.
   */
  firstSeen: RawBuilder<number | null>;
}

const fieldsOf = ({
  address,
  scriptId,
  balance,
  transactionCount,
  firstSeen,
}: Selections): JsonFields<AddressDetails> => ({
  address,
  balance: sql`coalesce(${balance('balance')}, 0)::text`,
  utxoCount: sql`coalesce(${balance('utxo_count')}, 0)`,
  transactionCount,
  firstSeen,
  // The count is never below the number of rows (balances/verify.ts), so a lone transaction is also
  // the last.
  lastSeen: sql`case when ${transactionCount} > 1 then ${timeOf('max', scriptId)} else ${firstSeen} end`,
  tag: tagOfScript(address, scriptId),
  automaticLabels: automaticLabelsOf(scriptId),
});

interface Variant {
  withTags: boolean;
}

const detailsOfAddress = statementsBy('address', (parameter: ParameterOf<AddressParameters>, { withTags }: Variant) => {
  const address = parameter('address', 'text');
  const scriptId = sql`(select id from script)`;
  return {
    tables: {
      script: sql`select ${scriptIdOf(parameter)} as id`,
      balance: sql`select * from balances where script_id = (select id from script)`,
      count: sql`select ${transactionCountOf(sql`(select transaction_count from balance)`, scriptId)} as transactions`,
      first: sql`select ${timeOf('min', scriptId)} as seen`,
    },
    body: jsonBuildObject({
      address: jsonObject<AddressDetails>(
        fieldsOf({
          address,
          scriptId,
          balance: (column) => sql`(select ${sql.ref(column)} from balance)`,
          transactionCount: sql`(select transactions from count)`,
          firstSeen: sql`(select seen from first)`,
        }),
      ),
      ...(withTags && { tags: tagsOfScripts(sql`select id as script_id from script`) }),
    }),
  };
});

const detailsOfAddresses = statementsBy(
  'addresses by name',
  (parameter: ParameterOf<AddressesParameters>, { withTags }: Variant) => ({
    tables: {
      requested: sql`
        select requested.address, requested.position, scripts.id as script_id
        from ${requestedAddresses(parameter)}
          left join scripts on scripts.address = requested.address`,
      unmerged: unmergedCounts(sql`select script_id from requested`),
    },
    body: jsonBuildObject({
      addresses: jsonArray(
        jsonObject<AddressDetails>(
          fieldsOf({
            address: sql`requested.address`,
            scriptId: sql`requested.script_id`,
            balance: (column) => sql`balances.${sql.ref(column)}`,
            transactionCount: sql`(coalesce(balances.transaction_count, 0) + coalesce(unmerged.transactions, 0))`,
            firstSeen: sql`first.seen`,
          }),
        ),
        // `offset 0` keeps Postgres from computing the time twice.
        sql`
          from requested
          left join balances on balances.script_id = requested.script_id
          left join unmerged on unmerged.script_id = requested.script_id
          cross join lateral (select ${timeOf('min', sql`requested.script_id`)} as seen
            offset 0) first
          order by requested.position`,
      ),
      ...(withTags && {
        tags: tagsOfScripts(sql`select distinct script_id from requested`),
      }),
    }),
  }),
);

export const getAddress = statementRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address', 'getAddress'),
    summary: 'Balance, activity, tag and labels of an address',
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    query: z.strictObject({ include: includeTags }),
    response: z.object({ address: addressDetails, tags: tagsByAddress.optional() }),
  },
  ({ params: { address }, query }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    return detailsOfAddress({ withTags: query.include !== undefined }).with({ address });
  },
);

export const getAddresses = statementRoute(
  {
    method: 'POST',
    url: '/v1/addresses',
    operationId: 'getAddresses',
    summary: 'Balance, activity, tag and labels of up to 1,000 addresses',
    tag: 'Address',
    cost: 0.1,
    countItems: ({ addresses }) => addresses.length,
    tagOf: 'content',
    body: z.strictObject({ addresses: addressesInput, include: includeTags }),
    response: z.object({
      addresses: z.array(addressDetails).meta({ description: 'One for each address, in the given order' }),
      tags: tagsByAddress.optional(),
    }),
  },
  ({ body: { addresses, include } }, settled) => {
    requireNetworkOfAll(settled.network, addresses);
    requireCaughtUp(settled);
    return detailsOfAddresses({ withTags: include !== undefined }).with({ addresses });
  },
);

/** Clusters are unknown during the first catch-up. */
const tagOfAddress = new Statement('tag of an address', (parameter: ParameterOf<AddressParameters>) => {
  const tag = sql<AddressTagJson>`(select tag from found)`;
  return {
    tables: {
      found: sql`select ${specifiedTagOf(parameter('address', 'text'), scriptIdOf(parameter))} as tag`,
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

/** getBalanceByAddress and getBalancesByAddresses: balances at the sink. */
import {
  address,
  addressesInput,
  addressInput,
  type AddressParameters,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  requireNetworkOfAll,
  scriptIdOf,
  sompi,
  Statement,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';

const balance = sompi.meta({ description: '0 for an address that was never seen' });

/** Parameters of a statement about several addresses. */
export interface AddressesParameters {
  addresses: readonly string[];
}

/** Builds a table of requested addresses, in their order. */
export const requestedAddresses = (parameter: ParameterOf<AddressesParameters>): RawBuilder<unknown> =>
  sql`unnest(${parameter('addresses', 'text[]')}) with ordinality as requested (address, position)`;

const balanceOfScript = new Statement(
  'balance',
  (parameter: ParameterOf<AddressParameters>) => ({
    body: jsonBuildObject({
      balance: sql<string>`coalesce((select balance from balances
        where script_id = ${scriptIdOf(parameter)}), 0)::text`,
    }),
  }),
  { itemsOf: () => 1 },
);

export const getBalanceByAddress = statementRoute(
  {
    ...rpc('GET', 'getBalanceByAddress'),
    url: '/v1/rpc/getBalanceByAddress/:address',
    summary: 'Balance of an address at the sink',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ balance }),
  },
  ({ params: { address } }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    return balanceOfScript.with({ address });
  },
);

const balancesOfAddresses = new Statement('balances', (parameter: ParameterOf<AddressesParameters>) => ({
  body: jsonBuildObject({
    entries: sql<{ address: string; balance: string }[]>`(
      select coalesce(json_agg(listed), '[]') from (
        select requested.address, coalesce(balances.balance, 0)::text as balance
        from ${requestedAddresses(parameter)}
        left join scripts on scripts.address = requested.address
        left join balances on balances.script_id = scripts.id
        order by requested.position
      ) listed)`,
  }),
}));

export const getBalancesByAddresses = statementRoute(
  {
    ...rpc('POST', 'getBalancesByAddresses'),
    summary: 'Balances of up to 1,000 addresses at the sink',
    countItems: ({ addresses }) => addresses.length,
    body: z.strictObject({ addresses: addressesInput }),
    response: z.object({
      entries: z
        .array(z.object({ address, balance }))
        .meta({ description: 'One for each address, in the given order' }),
    }),
  },
  ({ body: { addresses } }, settled) => {
    requireNetworkOfAll(settled.network, addresses);
    requireCaughtUp(settled);
    return balancesOfAddresses.with({ addresses });
  },
);

/** getBalanceByAddress and getBalancesByAddresses: balances at the sink. */
import { addressToScript } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { requireNetwork, requireNetworkOfAll } from '../../schemas/address.ts';
import { address, addressesInput, addressInput, sompi } from '../../schemas/values.ts';
import { rpc } from '../shared.ts';

const balance = sompi.meta({ description: '0 for an address that was never seen' });

/** Builds a table of requested addresses with their scripts, in their order. */
export function tableOfAddresses(addresses: readonly string[]) {
  const scripts = addresses.map(addressToScript);
  return sql`unnest(
    ${addresses}::text[], ${scripts.map(({ version }) => version)}::int[], ${scripts.map(({ script }) => script)}::bytea[]
  ) with ordinality as requested (address, version, script, position)`;
}

async function listBalances(db: Db, addresses: readonly string[]): Promise<{ address: string; balance: string }[]> {
  const { rows } = await sql<{ address: string; balance: string }>`
    select requested.address, coalesce(b.balance, 0)::text as balance
    from ${tableOfAddresses(addresses)}
    left join scripts s on s.script = requested.script and s.version = requested.version
    left join balances b on b.script_id = s.id
    order by requested.position`.execute(db);
  return rows;
}

export const getBalanceByAddress = indexRoute(
  {
    ...rpc('GET', 'getBalanceByAddress'),
    url: '/v1/rpc/getBalanceByAddress/:address',
    summary: 'Balance of an address at the sink',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ balance }),
  },
  async ({ db, state }, { params: { address } }) => {
    requireNetwork(state.network, address, 'address');
    requireCaughtUp(state);
    const [entry] = await listBalances(db, [address]);
    return { balance: entry?.balance ?? '0' };
  },
);

export const getBalancesByAddresses = indexRoute(
  {
    ...rpc('POST', 'getBalancesByAddresses'),
    summary: 'Balances of up to 1,000 addresses at the sink',
    costsByItemsOf: ['addresses'],
    body: z.strictObject({ addresses: addressesInput }),
    response: z.object({
      entries: z
        .array(z.object({ address, balance }))
        .meta({ description: 'One for each address, in the given order' }),
    }),
  },
  async ({ db, state }, { body: { addresses } }) => {
    requireNetworkOfAll(state.network, addresses);
    requireCaughtUp(state);
    return { entries: await listBalances(db, [...new Set(addresses)]) };
  },
);

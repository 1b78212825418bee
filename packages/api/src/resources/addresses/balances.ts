/** getBalanceByAddress and getBalancesByAddresses: balances at the sink. */
import { addressToScript } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { requireNetwork, requireNetworkOfAll } from '../../schemas/address.ts';
import { address, addressesInput, addressInput, sompi } from '../../schemas/values.ts';

const balance = sompi.meta({ description: '0 for an address that was never seen' });

const balances = z.object({
  entries: z.array(z.object({ address, balance })).meta({ description: 'One for each address, in the given order' }),
});

/** Returns the balance in sompi, or undefined if the address never had a UTXO. */
async function findBalance(db: Db, address: string): Promise<bigint | undefined> {
  const { version, script } = addressToScript(address);
  const row = await db
    .selectFrom('scripts')
    .innerJoin('balances', 'balances.script_id', 'scripts.id')
    .select('balances.balance')
    .where('scripts.script', '=', Buffer.from(script))
    .where('scripts.version', '=', version)
    .executeTakeFirst();
  return row?.balance;
}

interface BalanceRow {
  address: string;
  balance: string;
}

/** Lists the balances of the addresses that ever had a UTXO. */
async function listBalances(db: Db, addresses: readonly string[]): Promise<BalanceRow[]> {
  const scripts = addresses.map(addressToScript);
  const { rows } = await sql<BalanceRow>`
    select requested.address, b.balance::text as balance
    from unnest(
      ${addresses}::text[], ${scripts.map(({ version }) => version)}::int[], ${scripts.map(({ script }) => script)}::bytea[]
    ) as requested (address, version, script)
    join scripts s on s.script = requested.script and s.version = requested.version
    join balances b on b.script_id = s.id`.execute(db);
  return rows;
}

async function getBalances({ db, state }: Reading, requested: string[]): Promise<z.infer<typeof balances>> {
  requireNetworkOfAll(state.network, requested);
  requireCaughtUp(state);
  const addresses = [...new Set(requested)];
  const known = new Map((await listBalances(db, addresses)).map((row) => [row.address, row.balance]));
  return { entries: addresses.map((address) => ({ address, balance: known.get(address) ?? '0' })) };
}

export const getBalanceByAddress = indexRoute(
  {
    method: 'GET',
    url: '/v1/rpc/getBalanceByAddress/:address',
    operationId: 'getBalanceByAddress',
    summary: 'Balance of an address at the sink',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    params: z.strictObject({ address: addressInput }),
    response: z.object({ balance }),
  },
  async ({ db, state }, { params: { address } }) => {
    requireNetwork(state.network, address, 'address');
    requireCaughtUp(state);
    return { balance: String((await findBalance(db, address)) ?? 0n) };
  },
);

export const getBalancesByAddresses = indexRoute(
  {
    method: 'POST',
    url: '/v1/rpc/getBalancesByAddresses',
    operationId: 'getBalancesByAddresses',
    summary: 'Balances of up to 1,000 addresses at the sink',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    costsByItemsOf: ['addresses'],
    body: z.strictObject({ addresses: addressesInput }),
    response: balances,
  },
  (reading, { body }) => getBalances(reading, body.addresses),
);

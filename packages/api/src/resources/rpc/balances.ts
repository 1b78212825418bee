/** getBalancesByAddresses: what each of some addresses holds at the sink. */
import type { Database } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { address, addressesInput, sompi } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

const body = z.strictObject({ addresses: addressesInput });

const balances = z.object({
  entries: z
    .array(z.object({ address, balance: sompi.meta({ description: '0 for an address that was never seen' }) }))
    .meta({ description: 'One for each address, in the order asked' }),
});

interface BalanceRow {
  address: string;
  balance: string;
}

/** Of the addresses that ever held an accepted coin. */
async function listBalances(db: Kysely<Database>, addresses: readonly string[]): Promise<BalanceRow[]> {
  const scripts = addresses.map(addressToScript);
  const { rows } = await sql<BalanceRow>`
    select asked.address, b.balance::text as balance
    from unnest(
      ${addresses}::text[], ${scripts.map(({ version }) => version)}::int[], ${scripts.map(({ script }) => script)}::bytea[]
    ) as asked (address, version, script)
    join scripts s on s.script = asked.script and s.version = asked.version
    join balances b on b.script_id = s.id`.execute(db);
  return rows;
}

async function getBalances({ db, state }: Reading, request: z.infer<typeof body>): Promise<z.infer<typeof balances>> {
  requireNetworkOfAll(state.network, request.addresses);
  requireCaughtUp(state);
  const addresses = [...new Set(request.addresses)];
  const known = new Map((await listBalances(db, addresses)).map((row) => [row.address, row.balance]));
  return { entries: addresses.map((address) => ({ address, balance: known.get(address) ?? '0' })) };
}

export const rpcBalancesRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getBalancesByAddresses',
    {
      config: { cost: 0.1, costsByItemsOf: ['addresses'] },
      schema: {
        operationId: 'getBalancesByAddresses',
        summary: 'The balances of up to 1,000 addresses at the sink',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(balances, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, (reading) => getBalances(reading, request.body)),
  );
};

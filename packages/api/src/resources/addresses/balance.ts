/** getBalanceByAddress: what an address holds at the sink. */
import type { Database } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../index-state/answer.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { addressInput } from '../../schemas/values.ts';
import { requireNetwork } from '../../schemas/address.ts';
import { sompi } from '../../schemas/values.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import type { ApiPlugin } from '../../services.ts';

const params = z.strictObject({ address: addressInput });

const balanceOfAddress = z.object({ balance: sompi.meta({ description: '0 for an address that was never seen' }) });

/** In sompi; undefined when the address never held an accepted coin. */
async function findBalance(db: Kysely<Database>, address: string): Promise<bigint | undefined> {
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

export const balanceRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/rpc/getBalanceByAddress/:address',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBalanceByAddress',
        summary: 'The balance of an address at the sink',
        tags: ['Node RPC Proxy'],
        params,
        response: answers(balanceOfAddress, 304, ...UNDER_KEY, 400),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async ({ db, state }) => {
        const { address } = request.params;
        requireNetwork(state.network, address, 'address');
        requireCaughtUp(state);
        return { balance: String((await findBalance(db, address)) ?? 0n) };
      }),
  );
};

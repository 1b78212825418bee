/** getCurrentNetwork and getCoinSupply: answers that stand in the checkpoint itself. */
import { MAX_SOMPI } from '@kasgres/kaspa';
import { z } from 'zod';
import { respondFromIndex } from '../index-state/answer.ts';
import { requireCaughtUp } from '../index-state/state.ts';
import { answers, UNDER_KEY } from '../schemas/responses.ts';
import { sompi } from '../schemas/values.ts';
import type { ApiPlugin } from '../services.ts';

const currentNetwork = z.object({ network: z.enum(['mainnet', 'testnet', 'simnet', 'devnet']) });

const coinSupply = z.object({
  maxSompi: sompi,
  circulatingSompi: sompi.meta({ description: 'Sum of all unspent outputs at the sink' }),
});

export const networkRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/rpc/getCurrentNetwork',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getCurrentNetwork',
        summary: 'Which network this is',
        tags: ['Node RPC Proxy'],
        response: answers(currentNetwork, 304, ...UNDER_KEY),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, async ({ state }) => ({ network: state.network.name })),
  );

  app.get(
    '/v1/rpc/getCoinSupply',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getCoinSupply',
        summary: 'UTXOs in circulation, and how many there can ever be',
        tags: ['Node RPC Proxy'],
        response: answers(coinSupply, 304, ...UNDER_KEY),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, async ({ state }) => {
        requireCaughtUp(state);
        return { maxSompi: String(MAX_SOMPI), circulatingSompi: String(state.circulatingSompi) };
      }),
  );
};
